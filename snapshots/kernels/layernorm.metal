// layernorm(x: *f32, weight: *f32, bias: *f32, y: *f32, N: i32)
// with EPSILON=1e-05, BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void layernorm(device const float* x [[buffer(0)]],
                      device const float* weight [[buffer(1)]],
                      device const float* bias [[buffer(2)]],
                      device float* y [[buffer(3)]],
                      constant int& N [[buffer(4)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float total_partial[8];
    threadgroup float total_partial_1[8];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float v[2];
    float total = 0.0f;                                     // +5
    for (int slot = 0; slot < 2; ++slot) {
        const int col = t + 256 * slot;
        v[slot] = col < N ? x[row * N + col] : 0.0f;        // +4
        total += v[slot];                                   // +5
    }
    total = simd_sum(total);
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 8 ? total_partial[lane] : 0.0f);
    const float mean = total / float(N);
    float centred[2];
    float total_1 = 0.0f;                                   // +7
    for (int slot = 0; slot < 2; ++slot) {
        const int col = t + 256 * slot;
        centred[slot] = col < N ? v[slot] - mean : 0.0f;    // +6
        total_1 += centred[slot] * centred[slot];           // +7
    }
    total_1 = simd_sum(total_1);
    if (lane == 0) { total_partial_1[simdgroup] = total_1; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total_1 = simd_sum(lane < 8 ? total_partial_1[lane] : 0.0f);
    const float scale = precise::rsqrt(total_1 / float(N) + 0.00001f);
    for (int slot = 0; slot < 2; ++slot) {
        const int col = t + 256 * slot;
        if (col < N) {                                      // +9
            y[row * N + col] = centred[slot] * scale * weight[col] + bias[col];
        }
    }
}
