// a reference parameter without a memory
#include <metal_stdlib>
using namespace metal;

void f(float& p) { p = 1.0f; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    float x;
    f(x);
    a[0] = x;
}
// line 5: `float&` does not say in which memory
