// a function calls itself
#include <metal_stdlib>
using namespace metal;

int f(int n) { return n > 0 ? f(n - 1) : 0; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = float(f(N));
}
// line 5: `f` calls itself
