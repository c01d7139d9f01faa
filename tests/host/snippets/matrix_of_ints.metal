#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    int2x2 m(1);
    a[i] = m[0][0];
}
// line 8: unknown type name 'int2x2'; did you mean 'int2'?
