// a vector of four needs four elements
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = float4(1.0f, 2.0f, 3.0f).x;
}
// line 10: no matching constructor for initialization of 'thread float4' (aka 'thread metal::vec<float, 4>')
