#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = (float2(1, 2) + float3(1, 2, 3)).x;
}
// line 8: invalid operands to binary expression ('float2' (aka 'metal::vec<float, 2>') and 'float3' (aka 'metal::vec<float, 3>'))
