// half and bfloat have no common type
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    bfloat x = bfloat(1.0f);
    half y = half(1.0f);
    a[0] = float(x + y);
}
// line 12: `+` of a half and a bfloat
