// threadgroup variables belong to kernels
#include <metal_stdlib>
using namespace metal;

float f() {
    threadgroup float t[4];
    t[0] = 1.0f;
    return t[0];
}

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = f();
}
// line 6: non-kernel function variable cannot be declared in local address space
