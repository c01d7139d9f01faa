#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    device float* p = 5;
    a[i] = *p;
}
// line 8: cannot initialize a variable of type 'device float *' with an rvalue of type 'int'
