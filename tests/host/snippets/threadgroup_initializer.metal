// threadgroup variables have no first value
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    threadgroup float q = 1.0f;
    a[0] = q;
}
// line 10: 'threadgroup' variable cannot have an initializer
