// flash_attention(q: *f32, k: *f32, v: *f32, out: *f32, lse: *f32, N: i32, scale: f32)
// with BM=16, BN=16, D=16, CAUSAL=True · 32 threads per program · Metal 2.3
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

kernel void flash_attention(device const float* q [[buffer(0)]],
                            device const float* k [[buffer(1)]],
                            device const float* v [[buffer(2)]],
                            device float* out [[buffer(3)]],
                            device float* lse [[buffer(4)]],
                            constant int& N [[buffer(5)]],
                            constant float& scale [[buffer(6)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float rows_tile[320];
    threadgroup float keys_tile[320];
    threadgroup float scores_part_shared[256];
    threadgroup float scores_shared[256];
    threadgroup float higher_shared[16];
    threadgroup float weights_shared[256];
    threadgroup float weights_tile[320];
    threadgroup float values_tile[320];
    threadgroup float factor_tile[20];
    threadgroup float total_shared[16];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +20
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    const int m_base = int(program.x) * 16;                 // +4
    for (int e = t; e < 256; e += 32) {
        const int d = e / 16;
        const int m = m_base + d;
        const int d_1 = e % 16;
        rows_tile[d * 20 + d_1] = m < N ? q[m * 16 + d_1] : 0.0f; // +12
    }
    float total;                                            // +9
    float high;
    if (t < 16) {
        total = 0.0f;
        high = -INFINITY;
    }
    for (long start = 0; start < min((int(program.x) + 1) * 16, N); start += 16) {
        simdgroup_float8x8 sum[4];                          // +12
        for (int n = 0; n < 4; ++n) {
            sum[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        for (int e = t; e < 256; e += 32) {
            const int d = e / 16;
            const int n = wrap_add(int(start), d);          // +10
            const int d_1 = e % 16;
            keys_tile[d * 20 + d_1] = n < N ? k[n * 16 + d_1] : 0.0f; // +12
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16_nt(sum, rows_tile, keys_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum[i * 2 + j], &scores_part_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float scores[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int n = wrap_add(int(start), e % 16);     // +10
            scores[slot] = n < N && m_base + e / 16 >= n ? scores_part_shared[e] * scale // +14
                : -INFINITY;
            scores_shared[e] = scores[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float higher;
        if (t < 16) {
            float high_1 = -INFINITY;                       // +15
            for (int k_1 = 0; k_1 < 16; ++k_1) {
                high_1 = fmax(high_1, scores_shared[t * 16 + k_1]);
            }
            higher = fmax(high, high_1);
            higher_shared[t] = higher;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float weights[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            weights[slot] = precise::exp(scores[slot] - higher_shared[e / 16]); // +16
            weights_shared[e] = weights[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float factor;
        float total_1;
        if (t < 16) {
            factor = precise::exp(high - higher);           // +17
            float total_2 = 0.0f;                           // +18
            for (int k_1 = 0; k_1 < 16; ++k_1) {
                total_2 += weights_shared[t * 16 + k_1];
            }
            total_1 = total * factor + total_2;
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int d = e / 16;
            const int d_1 = e % 16;
            weights_tile[d * 20 + d_1] = weights[slot];     // +20
            const int n = wrap_add(int(start), d);          // +10
            values_tile[d * 20 + d_1] = n < N ? v[n * 16 + d_1] : 0.0f; // +20
        }
        if (t < 16) { factor_tile[t] = factor; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < 2; ++i) {
            const float factor_1 = factor_tile[8 * i + int(lane) / 16 * 4 + int(lane) / 2 % 4];
            for (int j = 0; j < 2; ++j) {
                acc[i * 2 + j].thread_elements() *= factor_1;
            }
        }
        multiply_16x16x16(acc, weights_tile, values_tile);
        if (t < 16) {
            total = total_1;                                // +21
            high = higher;
        }
    }
    if (t < 16) { total_shared[t] = total; }
    for (int i = 0; i < 2; ++i) {                           // +20
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int d = e / 16;
        const int m = m_base + d;                           // +4
        if (m < N) {                                        // +22
            out[m * 16 + e % 16] = acc_shared[e] / total_shared[d];
        }
    }
    if (t < 16) {
        const int m = m_base + t;                           // +4
        if (m < N) { lse[m] = high + precise::log(total); } // +23
    }
}
