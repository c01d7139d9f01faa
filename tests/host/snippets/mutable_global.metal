// global variables are constant
#include <metal_stdlib>
using namespace metal;

int g = 0;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    g = 1;
    a[0] = float(g);
}
// line 5: a variable outside of all functions must be in `constant` memory
