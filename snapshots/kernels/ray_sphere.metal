// ray_sphere(rays: *f32, distances: *f32, N: i32)
// with SPHERE=Sphere, BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void ray_sphere(device const float* rays [[buffer(0)]],
                       device float* distances [[buffer(1)]],
                       constant int& N [[buffer(2)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +4
        const float total = 0.0f + rays[3 * offs] * 0.5f + rays[3 * offs + 1] * 0.0f; // dot+3
        const float total_1 = total + rays[3 * offs + 2] * 4.0f;
        const float gap = total_1 * total_1 - 16.25f + 4.0f; // hit+2
        distances[offs] = gap < 0.0f || total_1 < 0.0f ? INFINITY : total_1 - precise::sqrt(gap); // +4
    }
}
