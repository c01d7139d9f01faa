// two functions call each other
#include <metal_stdlib>
using namespace metal;

int g(int n);
int f(int n) { return n > 0 ? g(n - 1) : 0; }
int g(int n) { return f(n); }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = float(f(N));
}
// line 6: `f` calls itself
