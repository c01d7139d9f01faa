#include <metal_stdlib>
using namespace metal;

#if 1
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}
// line 4: unterminated conditional directive
