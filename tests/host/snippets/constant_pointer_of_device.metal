#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    constant float* p = b;
    a[i] = p[0];
}
// line 8: cannot initialize a variable of type 'constant float *' with an lvalue of type 'device float const *'
