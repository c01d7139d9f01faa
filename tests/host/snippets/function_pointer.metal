// no pointers to functions
#include <metal_stdlib>
using namespace metal;

float f(float x) { return x; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    float (*p)(float) = f;
    a[0] = p(1.0f);
}
// line 12: pointers to functions are not allowed
