// flash_attention_backward(q: *f32, k: *f32, v: *f32, do: *f32, lse: *f32, delta: *f32, dq: *f32, dk: *f32, dv: *f32, N: i32, scale: f32)
// with BM=16, BN=16, D=16 · 32 threads per program · Metal 3.0
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
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

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16_tn(thread simdgroup_float8x8* sum,
                                 threadgroup const float* left,
                                 threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[k * 20 + 8 * i], 20, ulong2(0), true);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_float8x8 b;
            simdgroup_load(b, &right[k * 20 + 8 * j], 20);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16(thread simdgroup_float8x8* sum,
                              threadgroup const float* left,
                              threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[160 * i + k], 20);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_float8x8 b;
            simdgroup_load(b, &right[k * 20 + 8 * j], 20);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void flash_attention_backward(device const float* q [[buffer(0)]],
                                     device const float* k [[buffer(1)]],
                                     device const float* v [[buffer(2)]],
                                     device const float* do_ [[buffer(3)]],
                                     device const float* lse [[buffer(4)]],
                                     device const float* delta [[buffer(5)]],
                                     device atomic_float* dq [[buffer(6)]],
                                     device float* dk [[buffer(7)]],
                                     device float* dv [[buffer(8)]],
                                     constant int& N [[buffer(9)]],
                                     constant float& scale [[buffer(10)]],
                                     uint3 program [[threadgroup_position_in_grid]],
                                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float keys_tile[320];
    threadgroup float values_tile[320];
    threadgroup float rows_tile[320];
    threadgroup float scores_part_shared[256];
    threadgroup float grad_tile[320];
    threadgroup float weights_tile[320];
    threadgroup float along_part_shared[256];
    threadgroup float grad_scores_tile[320];
    threadgroup float block_shared[256];
    threadgroup float grad_v_shared[256];
    threadgroup float grad_k_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 grad_v[4];                           // +15
    for (int n = 0; n < 4; ++n) {
        grad_v[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    simdgroup_float8x8 grad_k[4];                           // +18
    for (int n = 0; n < 4; ++n) {
        grad_k[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    const int n_base = int(program.x) * 16;                 // +4
    for (int e = t; e < 256; e += 32) {
        const int d = e / 16;
        const int n = n_base + d;
        const int d_1 = e % 16;
        const int at_n = n * 16 + d_1;                      // +5
        keys_tile[d * 20 + d_1] = n < N ? k[at_n] : 0.0f;   // +12
        values_tile[d * 20 + d_1] = n < N ? v[at_n] : 0.0f; // +16
    }
    for (long start = 0; start < N; start += 16) {          // +8
        simdgroup_float8x8 sum[4];                          // +12
        for (int n = 0; n < 4; ++n) {
            sum[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        float grad[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int d = e / 16;
            const int m = wrap_add(int(start), d);          // +9
            const int d_1 = e % 16;
            const int at_m = m * 16 + d_1;                  // +10
            const bool inside = m < N;
            grad[slot] = inside ? do_[at_m] : 0.0f;         // +11
            rows_tile[d * 20 + d_1] = inside ? q[at_m] : 0.0f; // +12
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16_nt(sum, rows_tile, keys_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum[i * 2 + j], &scores_part_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float weights[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int d = e / 16;
            const int m = wrap_add(int(start), d);          // +9
            const int d_1 = e % 16;
            const bool seen = m < N && n_base + d_1 < N;    // +13
            weights[slot] = seen ? precise::exp(scores_part_shared[e] * scale - // +14
                (m < N ? lse[m] : 0.0f)) : 0.0f;
            grad_tile[d * 20 + d_1] = grad[slot];           // +15
            weights_tile[d * 20 + d_1] = weights[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16_tn(grad_v, weights_tile, grad_tile);
        simdgroup_float8x8 sum_1[4];                        // +16
        for (int n = 0; n < 4; ++n) {
            sum_1[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        multiply_16x16x16_nt(sum_1, grad_tile, values_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum_1[i * 2 + j], &along_part_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int d = e / 16;
            const int m = wrap_add(int(start), d);          // +9
            grad_scores_tile[d * 20 + e % 16] = weights[slot] * // +18
                (along_part_shared[e] - (m < N ? delta[m] : 0.0f)) * scale;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16_tn(grad_k, grad_scores_tile, rows_tile);
        simdgroup_float8x8 sum_2[4];                        // +19
        for (int n = 0; n < 4; ++n) {
            sum_2[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        multiply_16x16x16(sum_2, grad_scores_tile, keys_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum_2[i * 2 + j], &block_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int e = t; e < 256; e += 32) {
            const int m = wrap_add(int(start), e / 16);     // +9
            if (m < N) {                                    // +19
                atomic_fetch_add_explicit(&dq[m * 16 + e % 16], block_shared[e],
                    memory_order_relaxed);
            }
        }
    }
    for (int i = 0; i < 2; ++i) {                           // +15
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(grad_v[i * 2 + j], &grad_v_shared[i * 128 + 8 * j], 16);
        }
    }
    for (int i = 0; i < 2; ++i) {                           // +18
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(grad_k[i * 2 + j], &grad_k_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int n = n_base + e / 16;                      // +4
        if (n < N) {                                        // +20
            const int at_n = n * 16 + e % 16;               // +5
            dk[at_n] = grad_k_shared[e];                    // +20
            dv[at_n] = grad_v_shared[e];                    // +21
        }
    }
}
