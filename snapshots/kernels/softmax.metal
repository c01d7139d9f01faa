// softmax(x: *f32, y: *f32, N: i32) with BLOCK=1024 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant int& N [[buffer(2)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float high_partial[8];
    threadgroup float total_partial[8];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float v[4];
    float high = -INFINITY;                                 // +4
    for (int slot = 0; slot < 4; ++slot) {
        const int offs = t + 256 * slot;
        v[slot] = offs < N ? x[row * N + offs] : -INFINITY; // +3
        high = fmax(high, v[slot]);                         // +4
    }
    high = simd_max(high);
    if (lane == 0) { high_partial[simdgroup] = high; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    high = simd_max(lane < 8 ? high_partial[lane] : -INFINITY);
    float powers[4];
    float total = 0.0f;                                     // +5
    for (int slot = 0; slot < 4; ++slot) {
        powers[slot] = precise::exp(v[slot] - high);        // +4
        total += powers[slot];                              // +5
    }
    total = simd_sum(total);
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 8 ? total_partial[lane] : 0.0f);
    for (int slot = 0; slot < 4; ++slot) {
        const int offs = t + 256 * slot;
        if (offs < N) { y[row * N + offs] = powers[slot] / total; }
    }
}
