#include <metal_stdlib>
using namespace metal;

#define NAME "abc"
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = NAME[0];
}
// line 9: Metal has no strings
