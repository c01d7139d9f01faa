// a function that may end without its value
#include <metal_stdlib>
using namespace metal;

float f(int n) {
    if (n > 0) { return 1.0f; }
}

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = f(N);
}
// line 7: non-void function does not return a value in all control paths
