// arrays have a constant length
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    int n = N;
    float x[n];
    x[0] = 1.0f;
    a[0] = x[0];
}
// line 11: array size is not a constant expression
