// welford(x: *f32, mean: *f32, variance: *f32, N: i32)
// with BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void welford(device const float* x [[buffer(0)]],
                    device float* mean [[buffer(1)]],
                    device float* variance [[buffer(2)]],
                    constant int& N [[buffer(3)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float total_partial[8];
    threadgroup float average_partial[8];
    threadgroup float m2_partial[8];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float total = 0.0f;                                     // +5
    float average = 0.0f;
    float m2 = 0.0f;
    for (int i = t; i < 512; i += 256) {
        const float v = i < N ? x[row * N + i] : 0.0f;      // +3
        const float counts = i < N ? 1.0f : 0.0f;           // +4
        const bool test = i == t;
        const float total_1 = total + counts;               // merge+2
        const float delta = v - average;                    // merge+3
        const float share = total_1 > 0.0f ? counts / total_1 : 0.0f; // merge+4
        average = test ? v : average + delta * share;       // +5
        m2 = test ? 0.0f : m2 + 0.0f + delta * delta * total * share;
        total = test ? counts : total_1;
    }
    for (ushort lane_delta = 16; lane_delta > 0; lane_delta /= 2) {
        const float other_total = simd_shuffle_down(total, lane_delta);
        const float other_average = simd_shuffle_down(average, lane_delta);
        const float other_m2 = simd_shuffle_down(m2, lane_delta);
        const float total_1 = total + other_total;          // merge+2
        const float delta = other_average - average;        // merge+3
        const float share = total_1 > 0.0f ? other_total / total_1 : 0.0f; // merge+4
        average += delta * share;                           // merge+5
        m2 = m2 + other_m2 + delta * delta * total * share;
        total = total_1;                                    // +5
    }
    if (lane == 0) {
        total_partial[simdgroup] = total;
        average_partial[simdgroup] = average;
        m2_partial[simdgroup] = m2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = total_partial[min(lane, 7u)];
    average = average_partial[min(lane, 7u)];
    m2 = m2_partial[min(lane, 7u)];
    for (ushort lane_delta = 4; lane_delta > 0; lane_delta /= 2) {
        const float other_total = simd_shuffle_down(total, lane_delta);
        const float other_average = simd_shuffle_down(average, lane_delta);
        const float other_m2 = simd_shuffle_down(m2, lane_delta);
        if (int(lane) + lane_delta < 8) {
            const float total_1 = total + other_total;      // merge+2
            const float delta = other_average - average;    // merge+3
            const float share = total_1 > 0.0f ? other_total / total_1 : 0.0f; // merge+4
            average += delta * share;                       // merge+5
            m2 = m2 + other_m2 + delta * delta * total * share;
            total = total_1;                                // +5
        }
    }
    const float total_1 = simd_broadcast_first(total);
    const float average_1 = simd_broadcast_first(average);
    const float m2_1 = simd_broadcast_first(m2);
    if (t == 0) {                                           // +6
        mean[row] = average_1;
        variance[row] = m2_1 / total_1;                     // +7
    }
}
