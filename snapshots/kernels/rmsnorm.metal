// rmsnorm(x: *f32, weight: *f32, y: *f32, N: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void rmsnorm(device const float* x [[buffer(0)]],
                    device const float* weight [[buffer(1)]],
                    device float* y [[buffer(2)]],
                    constant int& N [[buffer(3)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float total_partial[4];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float squares = 0.0f;                                   // +3
    for (long start = 0; start < N; start += 128) {
        const int col = int(start) + t;                     // +4
        const float v = col < N ? x[row * N + col] : 0.0f;  // +5
        squares += v * v;                                   // +6
    }
    float total = simd_sum(squares);                        // +7
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 4 ? total_partial[lane] : 0.0f);
    const float scale = precise::rsqrt(total / float(N) + 0.000001f);
    for (long start = 0; start < N; start += 128) {         // +8
        const int col = int(start) + t;                     // +9
        if (col < N) {                                      // +11
            const int offset = row * N + col;               // +10
            y[offset] = x[offset] * scale * weight[col];    // +11
        }
    }
}
