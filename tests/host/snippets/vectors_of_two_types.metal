#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = (float2(1, 2) + int2(1, 2)).x;
}
// line 8: invalid operands to binary expression ('float2' (aka 'metal::vec<float, 2>') and 'int2' (aka 'metal::vec<int, 2>'))
