// matmul_int4(x: *f32, packed: *u8, scales: *f32, out: *f32, M: i32, N: i32, K: i32)
// with TILE=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Python's a // b: rounds towards minus infinity; by zero it gives zero.
inline int floor_div(int a, int b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : wrap_neg(a);
    }
    return a / b - int(a % b != 0 && (a < 0) != (b < 0));
}

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16_nt(thread simdgroup_float8x8* sum,
                                 threadgroup const float* left,
                                 threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[160 * i + k], 20);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_float8x8 b;
            simdgroup_load(b, &right[160 * j + k], 20, ulong2(0), true);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void matmul_int4(device const float* x [[buffer(0)]],
                        device const uchar* packed_ [[buffer(1)]],
                        device const float* scales [[buffer(2)]],
                        device float* out [[buffer(3)]],
                        constant int& M [[buffer(4)]],
                        constant int& N [[buffer(5)]],
                        constant int& K [[buffer(6)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float left_tile[2][320];
    threadgroup float weights_tile[2][320];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +11
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int n_1 = floor_div(K, 2);                        // +9
    for (long start = 0; start < K; start += 16) {          // +5
        const int pair_base = int(start) / 2;               // +8
        float left[8];
        float weights[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int i = e / 16;
            const int m = int(program.x) * 16 + i;          // +1
            const int k = int(start) + e % 16;              // +6
            left[slot] = m < M && k < K ? x[m * K + k] : 0.0f; // +7
            const int n = int(program.y) * 16 + i;          // +2
            const uchar byte = n < N ? packed_[n * n_1 + (pair_base + e / 2 % 8)] : uchar(0); // +9
            weights[slot] = float(e % 2 < 1 ? uchar(byte & 15) : uchar(byte >> 4)) - 8.0f; // +10
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +11
            multiply_16x16x16_nt(acc, left_tile[(stage - 1) % 2], weights_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int place = e / 16 * 20 + e % 16;
            left_tile[stage % 2][place] = left[slot];
            weights_tile[stage % 2][place] = weights[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_16x16x16_nt(acc, left_tile[(stage - 1) % 2], weights_tile[(stage - 1) % 2]);
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
        if (m < M && n < N) {                               // +13
            out[m * N + n] = acc_shared[e] * (n < N ? scales[n] : 0.0f);
        }
    }
}
