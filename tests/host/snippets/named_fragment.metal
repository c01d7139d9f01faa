// fragment is a word of Metal
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    float fragment = 1.0f;
    a[0] = fragment;
}
// line 10: `fragment` is a word of Metal, not a name
