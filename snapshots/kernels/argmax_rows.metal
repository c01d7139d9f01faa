// argmax_rows(x: *f32, index: *i32, value: *f32, M: i32, N: i32)
// with ROWS=4, BLOCK=64 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void argmax_rows(device const float* x [[buffer(0)]],
                        device int* index [[buffer(1)]],
                        device float* value [[buffer(2)]],
                        constant int& M [[buffer(3)]],
                        constant int& N [[buffer(4)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float best_partial[8];
    threadgroup int best_index_partial[8];
    threadgroup float high_partial[8];
    const int t = int(thread_position.x);

    const int row = int(program.x) * 4 + t / 64;            // +1
    const int col = t % 64;
    const float v = row < M && col < N ? x[row * N + col] : -INFINITY; // +4
    const float x_1 = fmax(v, -INFINITY);
    const float best = simd_max(x_1);                       // +5
    const int best_index = simd_min(x_1 == best ? col : INT_MAX);
    if (lane == 0) {
        best_partial[t / 32] = best;
        best_index_partial[t / 32] = best_index;
    }
    const float high = simd_max(fmax(v, -INFINITY));        // +6
    if (lane == 0) { high_partial[t / 32] = high; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 4) {
        const int n = t * 2;
        float best_1 = best_partial[n];                     // +5
        int best_index_1 = best_index_partial[n];
        const int n_1 = n + 1;
        const float best_part = best_partial[n_1];
        const int best_index_part = best_index_partial[n_1];
        if (best_part > best_1 || (best_part == best_1 && best_index_part < best_index_1)) {
            best_1 = best_part;
            best_index_1 = best_index_part;
        }
        float high_1 = high_partial[n];                     // +6
        high_1 = fmax(high_1, high_partial[n + 1]);
        const int row_1 = int(program.x) * 4 + t;           // +1
        if (row_1 < M) {                                    // +5
            index[row_1] = best_index_1;
            value[row_1] = high_1;                          // +6
        }
    }
}
