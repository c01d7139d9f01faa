// layernorm_backward(x: *f32, w: *f32, dy: *f32, dx: *f32, dw: *f32, db: *f32, N: i32, eps: f32)
// with BLOCK=128 · 128 threads per program · Metal 3.0
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void layernorm_backward(device const float* x [[buffer(0)]],
                               device const float* w [[buffer(1)]],
                               device const float* dy [[buffer(2)]],
                               device float* dx [[buffer(3)]],
                               device atomic_float* dw [[buffer(4)]],
                               device atomic_float* db [[buffer(5)]],
                               constant int& N [[buffer(6)]],
                               constant float& eps [[buffer(7)]],
                               uint3 program [[threadgroup_position_in_grid]],
                               uint3 thread_position [[thread_position_in_threadgroup]],
                               uint simdgroup [[simdgroup_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float total_partial[4];
    threadgroup float total_partial_1[4];
    threadgroup float total_partial_2[4];
    threadgroup float total_partial_3[4];
    const int t = int(thread_position.x);

    const int offset = int(program.x) * N + t;              // +4
    const bool mask = t < N;                                // +3
    const float v = mask ? x[offset] : 0.0f;                // +4
    float total = simd_sum(v);                              // +5
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 4 ? total_partial[lane] : 0.0f);
    const float centered = mask ? v - total / float(N) : 0.0f;
    float total_1 = simd_sum(centered * centered);          // +6
    if (lane == 0) { total_partial_1[simdgroup] = total_1; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total_1 = simd_sum(lane < 4 ? total_partial_1[lane] : 0.0f);
    const float g = mask ? dy[offset] : 0.0f;               // +4
    const float rstd = precise::rsqrt(total_1 / float(N) + eps); // +6
    const float hat = centered * rstd;                      // +7
    const float wg = g * (mask ? w[t] : 0.0f);              // +8
    float total_2 = simd_sum(wg * hat);                     // +9
    float total_3 = simd_sum(wg);
    if (lane == 0) {
        total_partial_2[simdgroup] = total_2;
        total_partial_3[simdgroup] = total_3;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total_2 = simd_sum(lane < 4 ? total_partial_2[lane] : 0.0f);
    total_3 = simd_sum(lane < 4 ? total_partial_3[lane] : 0.0f);
    if (mask) {                                             // +10
        dx[offset] = (wg - hat * (total_2 / float(N)) - total_3 / float(N)) * rstd;
        atomic_fetch_add_explicit(&dw[t], g * hat, memory_order_relaxed); // +11
        atomic_fetch_add_explicit(&db[t], g, memory_order_relaxed); // +12
    }
}
