// rope(x: *f32, y: *f32, base: f32) with HALF=40 · 96 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void rope(device const float* x [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 constant float& base [[buffer(2)]],
                 uint3 program [[threadgroup_position_in_grid]],
                 uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float turned_part_shared[40];
    threadgroup float turned_part_shared_1[40];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    const int offs_base = row * 2 * 40;                     // +3
    if (t < 40) {
        const float angle = float(row) * precise::pow(base, float(-t) / 40.0f); // +5
        const float s = precise::sin(angle);                // +6
        const float c = precise::cos(angle);
        const float left = x[offs_base + t * 2];            // +4
        const float right = x[offs_base + (t * 2 + 1)];
        turned_part_shared[t] = left * c - right * s;       // +7
        turned_part_shared_1[t] = left * s + right * c;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 80) {
        const int i = t / 2;
        y[offs_base + t] = t % 2 < 1 ? turned_part_shared[i] : turned_part_shared_1[i]; // +8
    }
}
