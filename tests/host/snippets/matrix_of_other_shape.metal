#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    float3x3 m(1);
    a[i] = (m * float4(1)).x;
}
// line 9: invalid operands to binary expression ('float3x3' (aka 'matrix<float, 3, 3>') and 'float4' (aka 'metal::vec<float, 4>'))
