// a cast from device to thread memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = *(thread float*)a;
}
// line 10: C-style cast from 'device float *' to 'thread float *' converts between mismatching address spaces
