// no static variables in functions
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    static int c = 0;
    a[0] = float(c);
}
// line 10: a static variable must be in `constant` memory
