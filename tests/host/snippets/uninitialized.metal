// a variable is read before it is written
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    float x;
    a[0] = x;
}
// line 11: variable 'x' is uninitialized when used here
