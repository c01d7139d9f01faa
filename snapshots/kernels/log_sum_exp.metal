// log_sum_exp(x: *f32, out: *f32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void log_sum_exp(device const float* x [[buffer(0)]],
                        device float* out [[buffer(1)]],
                        constant int& N [[buffer(2)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float high_partial[2];
    threadgroup float total_partial[2];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float total = 0.0f;                                     // +3
    float high = -INFINITY;
    for (long start = 0; start < N; start += 64) {
        const int offs = int(start) + t;                    // +4
        const float v = offs < N ? x[row * N + offs] : -INFINITY; // +5
        float high_1 = simd_max(fmax(v, -INFINITY));        // +6
        if (lane == 0) { high_partial[simdgroup] = high_1; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        high_1 = simd_max(lane < 2 ? high_partial[lane] : -INFINITY);
        const float higher = fmax(high, high_1);
        float total_1 = simd_sum(precise::exp(v - higher)); // +7
        if (lane == 0) { total_partial[simdgroup] = total_1; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total_1 = simd_sum(lane < 2 ? total_partial[lane] : 0.0f);
        total = total * precise::exp(high - higher) + total_1;
        high = higher;                                      // +8
    }
    if (t == 0) { out[row] = high + precise::log(total); }  // +9
}
