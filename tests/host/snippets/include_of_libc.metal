#include <metal_stdlib>
using namespace metal;

#include <math.h>
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = fabs(b[i]);
}
// line 4: 'math.h' file not found
