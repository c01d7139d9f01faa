// matmul_int8(a: *i8, b: *i8, scales: *f32, out: *f32, M: i32, N: i32, K: i32)
// with TILE=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16(thread simdgroup_float8x8* sum,
                              threadgroup const half* left,
                              threadgroup const half* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_half8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[192 * i + k], 24);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_half8x8 b;
            simdgroup_load(b, &right[k * 24 + 8 * j], 24);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void matmul_int8(device const char* a [[buffer(0)]],
                        device const char* b [[buffer(1)]],
                        device const float* scales [[buffer(2)]],
                        device float* out [[buffer(3)]],
                        constant int& M [[buffer(4)]],
                        constant int& N [[buffer(5)]],
                        constant int& K [[buffer(6)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup half left_tile[2][384];
    threadgroup half right_tile[2][384];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +8
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    for (long start = 0; start < K; start += 16) {          // +4
        half block[8];
        half block_1[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int i = e / 16;
            const int m = int(program.x) * 16 + i;          // +1
            const int j = e % 16;
            const int k = int(start) + j;                   // +5
            block[slot] = half(m < M && k < K ? a[m * K + k] : char(0)); // +8
            const int k_1 = int(start) + i;                 // +5
            const int n = int(program.y) * 16 + j;          // +2
            block_1[slot] = half(k_1 < K && n < N ? b[k_1 * N + n] : char(0)); // +8
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {
            multiply_16x16x16(acc, left_tile[(stage - 1) % 2], right_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int place = e / 16 * 24 + e % 16;
            left_tile[stage % 2][place] = block[slot];
            right_tile[stage % 2][place] = block_1[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_16x16x16(acc, left_tile[(stage - 1) % 2], right_tile[(stage - 1) % 2]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int n = int(program.y) * 16 + e % 16;         // +2
        const int m = int(program.x) * 16 + e / 16;         // +1
        if (m < M && n < N) {                               // +10
            out[m * N + n] = acc_shared[e] * (n < N ? scales[n] : 0.0f);
        }
    }
}
