// an atomic is no number
#include <metal_stdlib>
using namespace metal;

void f(device atomic_int* p) { *p += 1; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = 0.0f;
}
// line 5: no viable overloaded '+='
