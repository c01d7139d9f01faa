// top_k(x: *f32, values: *f32, places: *i32, N: i32)
// with COUNT=5, BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void top_k(device const float* x [[buffer(0)]],
                  device float* values [[buffer(1)]],
                  device int* places [[buffer(2)]],
                  constant int& N [[buffer(3)]],
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float best_partial[2][8];
    threadgroup int best_partial_1[2][8];
    threadgroup float high_partial[2][8];
    const int t = int(thread_position.x);

    int stage = 0;
    const int row = int(program.x);                         // +1
    float v[2];                                             // +4
    for (int slot = 0; slot < 2; ++slot) {
        const int i = t + 256 * slot;
        v[slot] = i < N ? x[row * N + i] : -INFINITY;       // +3
    }
    for (int k = 0; k < 5; ++k) {                           // +4
        float best = -INFINITY;                             // +5
        int best_1 = t;
        float high = -INFINITY;                             // +6
        for (int slot = 0; slot < 2; ++slot) {
            const int e = t + 256 * slot;
            if (v[slot] > best) {                           // +5
                best = v[slot];
                best_1 = e;
            }
            high = fmax(high, v[slot]);                     // +6
        }
        const float simd_best = simd_max(best);             // +5
        best_1 = simd_min(best == simd_best ? best_1 : INT_MAX);
        best = simd_best;
        high = simd_max(high);                              // +6
        if (lane == 0) {
            best_partial[stage % 2][simdgroup] = best;      // +5
            best_partial_1[stage % 2][simdgroup] = best_1;
            high_partial[stage % 2][simdgroup] = high;      // +6
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        best = lane < 8 ? best_partial[stage % 2][lane] : -INFINITY; // +5
        best_1 = lane < 8 ? best_partial_1[stage % 2][lane] : INT_MAX;
        const float simd_best_1 = simd_max(best);
        best_1 = simd_min(best == simd_best_1 ? best_1 : INT_MAX);
        high = simd_max(lane < 8 ? high_partial[stage % 2][lane] : -INFINITY); // +6
        stage += 1;
        if (t == 0) {
            values[row * 5 + k] = high;
            places[row * 5 + k] = best_1;                   // +7
        }
        for (int slot = 0; slot < 2; ++slot) {
            const int i = t + 256 * slot;
            v[slot] = i == best_1 ? -INFINITY : v[slot];    // +8
        }
    }
}
