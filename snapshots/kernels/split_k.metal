// split_k(a: *f32, b: *f32, out: *f32, M: i32, N: i32, K: i32)
// with TILE=16, BK=8, SPLIT=3 · 32 threads per program · Metal 3.0
#include <metal_stdlib>
using namespace metal;

kernel void split_k(device const float* a [[buffer(0)]],
                    device const float* b [[buffer(1)]],
                    device atomic_float* out [[buffer(2)]],
                    constant int& M [[buffer(3)]],
                    constant int& N [[buffer(4)]],
                    constant int& K [[buffer(5)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float x_tile[192];
    threadgroup float y_tile[160];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // split_k.py:19
    const int row = 0;
    const int column = 0;
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (long start = int(program.z) * 8; start < K; start += 24) { // split_k.py:15
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int e = t; e < 128; e += 32) {
            const int i = e / 8;
            const int m = int(program.x) * 16 + i;          // split_k.py:12
            const int j = e % 8;
            const int k = int(start) + j;                   // split_k.py:16
            x_tile[i * 12 + j] = m < M && k < K ? a[m * K + k] : 0.0f; // split_k.py:19
            const int i_1 = e / 16;
            const int k_1 = int(start) + i_1;               // split_k.py:16
            const int j_1 = e % 16;
            const int n = int(program.y) * 16 + j_1;        // split_k.py:13
            y_tile[i_1 * 20 + j_1] = k_1 < K && n < N ? b[k_1 * N + n] : 0.0f; // split_k.py:19
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int k = 0; k < 8; k += 8) {
            simdgroup_float8x8 left[2];
            for (int i = 0; i < 2; ++i) {
                simdgroup_load(left[i], &x_tile[(row + 8 * i) * 12 + k], 12);
            }
            for (int j = 0; j < 2; ++j) {
                simdgroup_float8x8 right;
                simdgroup_load(right, &y_tile[k * 20 + column + 8 * j], 20);
                for (int i = 0; i < 2; ++i) {
                    simdgroup_multiply_accumulate(acc[i * 2 + j], left[i], right, acc[i * 2 + j]);
                }
            }
        }
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[(row + 8 * i) * 16 + column + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int m = int(program.x) * 16 + e / 16;         // split_k.py:12
        const int n = int(program.y) * 16 + e % 16;         // split_k.py:13
        if (m < M && n < N) {                               // split_k.py:20
            atomic_fetch_add_explicit(&out[m * N + n], acc_shared[e], memory_order_relaxed);
        }
    }
}
