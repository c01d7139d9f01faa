#include <metal_stdlib>
using namespace metal;

constant float kernel_weights[3] = {0.25, 0.5, 0.25};

// An image of a size that is no multiple of a threadgroup's: groups at its edges are smaller.
kernel void blur(device const float4* image [[buffer(0)]],
                 device float4* blurred [[buffer(1)]],
                 device uint* widths [[buffer(2)]],
                 uint2 gid [[thread_position_in_grid]],
                 uint2 size [[threads_per_grid]],
                 uint2 per_group [[threads_per_threadgroup]]) {
    float4 sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            const int2 at = clamp(int2(gid) + int2(dx, dy), int2(0), int2(size) - 1);
            sum += kernel_weights[dx + 1] * kernel_weights[dy + 1] * image[at.y * size.x + at.x];
        }
    }
    const float luma = dot(sum.rgb, float3(0.299, 0.587, 0.114));
    sum.rgb = mix(sum.rgb, float3(luma), smoothstep(0.2, 0.8, luma)) * step(0.0, luma);
    blurred[gid.y * size.x + gid.x] = saturate(sum);
    widths[gid.y * size.x + gid.x] = per_group.x * 100 + per_group.y;
}
