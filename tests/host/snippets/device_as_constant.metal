#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    constant float* p = (constant float*)b;
    a[i] = p[0];
}
// line 8: C-style cast from 'device float const *' to 'constant float *' converts between mismatching address spaces
