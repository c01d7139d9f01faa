// moe_matmul(x: *f32, w: *f32, tokens: *i32, experts: *i32, out: *f32, T: i32, N: i32, K: i32)
// with TOKENS=16, BN=16, BK=8 · 32 threads per program · Metal 2.3
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

kernel void moe_matmul(device const float* x [[buffer(0)]],
                       device const float* w [[buffer(1)]],
                       device const int* tokens [[buffer(2)]],
                       device const int* experts [[buffer(3)]],
                       device float* out [[buffer(4)]],
                       constant int& T [[buffer(5)]],
                       constant int& N [[buffer(6)]],
                       constant int& K [[buffer(7)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int block_shared[16];
    threadgroup bool block_shared_1[16];
    threadgroup float rows_tile[2][192];
    threadgroup float w_tile[2][160];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +13
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int pid = int(program.x);                         // +4
    if (t < 16) {
        const int token = tokens[pid * 16 + t];             // +6
        block_shared[t] = token * K;                        // +11
        block_shared_1[t] = token < T;
    }
    const int expert = experts[pid];                        // +5
    for (long start = 0; start < K; start += 8) {           // +9
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float rows[4];
        float w_value[4];
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            const int i = e / 8;
            const int k = int(start) + e % 8;               // +10
            rows[slot] = block_shared_1[i] && k < K ? x[block_shared[i] + k] : 0.0f; // +11
            const int k_1 = int(start) + e / 16;            // +10
            const int n = int(program.y) * 16 + e % 16;     // +7
            w_value[slot] = k_1 < K && n < N ? w[(expert * K + k_1) * N + n] : 0.0f; // +13
        }
        if (stage > 0) {
            multiply_16x8x16(acc, rows_tile[(stage - 1) % 2], w_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            rows_tile[stage % 2][e / 8 * 12 + e % 8] = rows[slot];
            w_tile[stage % 2][e / 16 * 20 + e % 16] = w_value[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_16x8x16(acc, rows_tile[(stage - 1) % 2], w_tile[(stage - 1) % 2]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int i = e / 16;
        const int n = int(program.y) * 16 + e % 16;         // +7
        if (block_shared_1[i] && n < N) {                   // +14
            out[tokens[pid * 16 + i] * N + n] = acc_shared[e];
        }
    }
}
