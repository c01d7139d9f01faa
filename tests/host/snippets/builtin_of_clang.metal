#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = __builtin_sqrtf(b[i]);
}
// line 8: `__builtin_sqrtf` is no name of Metal
