#include <metal_stdlib>
using namespace metal;

// Forces of many bodies, tile by tile through threadgroup memory.
kernel void bodies(device const float4* positions [[buffer(0)]],
                   device float3* forces [[buffer(1)]],
                   constant uint& count [[buffer(2)]],
                   uint i [[thread_position_in_grid]],
                   uint t [[thread_position_in_threadgroup]]) {
    threadgroup float3 tile[64];
    threadgroup float mass[64];
    const float3 mine = positions[i].xyz;
    float3 force(0);
    for (uint start = 0; start < count; start += 64) {
        tile[t].x = positions[start + t].x;
        tile[t].y = positions[start + t].y;
        tile[t].z = positions[start + t].z;
        mass[t] = positions[start + t].w;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 64; ++k) {
            const float3 away = tile[k] - mine;
            const float inverse = rsqrt(length_squared(away) + 0.01);
            force += away * (mass[k] * inverse * inverse * inverse);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    forces[i] = force;
}
