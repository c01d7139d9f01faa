// a pointer to const without a memory
#include <metal_stdlib>
using namespace metal;

int f(const int* p) { return *p; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = 0.0f;
}
// line 5: `int*` does not say in which memory
