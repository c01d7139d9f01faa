// split_k(a: *f32, b: *f32, out: *f32, M: i32, N: i32, K: i32)
// with TILE=16, BK=8, SPLIT=3 · 32 threads per program · Metal 3.0
#include <metal_stdlib>
using namespace metal;

// Adds the product of a 16x8 and a 8x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x8x16(thread simdgroup_float8x8* sum,
                             threadgroup const float* left,
                             threadgroup const float* right) {
    simdgroup_float8x8 a[2];
    for (int i = 0; i < 2; ++i) {
        simdgroup_load(a[i], &left[96 * i], 12);
    }
    for (int j = 0; j < 2; ++j) {
        simdgroup_float8x8 b;
        simdgroup_load(b, &right[8 * j], 20);
        for (int i = 0; i < 2; ++i) {
            simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
        }
    }
}

kernel void split_k(device const float* a [[buffer(0)]],
                    device const float* b [[buffer(1)]],
                    device atomic_float* out [[buffer(2)]],
                    constant int& M [[buffer(3)]],
                    constant int& N [[buffer(4)]],
                    constant int& K [[buffer(5)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float x_tile[2][192];
    threadgroup float y_tile[2][160];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +8
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    for (long start = int(program.z) * 8; start < K; start += 24) { // +4
        float x[4];
        float y[4];
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            const int m = int(program.x) * 16 + e / 8;      // +1
            const int k = int(start) + e % 8;               // +5
            x[slot] = m < M && k < K ? a[m * K + k] : 0.0f; // +6
            const int k_1 = int(start) + e / 16;            // +5
            const int n = int(program.y) * 16 + e % 16;     // +2
            y[slot] = k_1 < K && n < N ? b[k_1 * N + n] : 0.0f; // +7
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +8
            multiply_16x8x16(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            x_tile[stage % 2][e / 8 * 12 + e % 8] = x[slot];
            y_tile[stage % 2][e / 16 * 20 + e % 16] = y[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_16x8x16(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int m = int(program.x) * 16 + e / 16;         // +1
        const int n = int(program.y) * 16 + e % 16;         // +2
        if (m < M && n < N) {                               // +9
            atomic_fetch_add_explicit(&out[m * N + n], acc_shared[e], memory_order_relaxed);
        }
    }
}
