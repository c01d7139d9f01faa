#include <metal_stdlib>
using namespace metal;

kernel void vectors(device const float4* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    const float4 v = x[i];
    const float4 weights = float4(float2(4.0f, 3.0f), 2.0f, 1.0f);
    const float high = max(max(v.x, v.y), max(v.z, v.w));
    y[i] = dot(v, weights) + high;
}
