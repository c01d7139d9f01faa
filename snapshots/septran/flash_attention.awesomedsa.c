/* flash_attention for awesomedsa */
#include "septran_elements.h"
#include "awesomedsa.h"

static void run_attend(uint16_t *O, const uint16_t *Q, const uint16_t *K, const uint16_t *V, uint16_t *q, uint16_t *k, uint16_t *v, float *s, uint16_t *p, float *o, float *m, float *n, float *r, float *l, int64_t H, int64_t L, int64_t S) {
    for (int64_t h = 0; h < H; ++h) {
        for (int64_t i = 0; i < septran_floor_div(L + 15, 16); ++i) {
            const int64_t i_extent = septran_min_i64(16, L - 16 * i);
            if (i_extent < 16) {
                vendor_lib_fill(&q[i_extent * 16], 16, 16 - i_extent, 16, SEPTRAN_F16, 0.0);
            }
            vendor_lib_dma_copy(q, 16, &Q[h * L * 16 + (16 * i) * 16], 16, i_extent, 16, SEPTRAN_F16, 0);
            vendor_lib_sync(0, 0);
            vendor_lib_fill(o, 16, 16, 16, SEPTRAN_F32, 0.0);
            vendor_lib_fill(m, 1, 16, 1, SEPTRAN_F32, -1e+30);
            vendor_lib_fill(l, 1, 16, 1, SEPTRAN_F32, 0.0);
            for (int64_t j = 0; j < septran_floor_div(S + 11, 12); ++j) {
                const int64_t j_extent = septran_min_i64(12, S - 12 * j);
                if (j_extent < 12) {
                    vendor_lib_fill(&k[j_extent * 16], 16, 12 - j_extent, 16, SEPTRAN_F16, 0.0);
                }
                vendor_lib_dma_copy(k, 16, &K[h * S * 16 + (12 * j) * 16], 16, j_extent, 16, SEPTRAN_F16, 0);
                vendor_lib_sync(0, 0);
                if (j_extent < 12) {
                    vendor_lib_fill(&v[j_extent * 16], 16, 12 - j_extent, 16, SEPTRAN_F16, 0.0);
                }
                vendor_lib_dma_copy(v, 16, &V[h * S * 16 + (12 * j) * 16], 16, j_extent, 16, SEPTRAN_F16, 0);
                vendor_lib_sync(0, 0);
                vendor_lib_fill(s, 12, 16, 12, SEPTRAN_F32, 0.0);
                vendor_lib_mma(s, 12, SEPTRAN_F32, q, 16, k, 16, SEPTRAN_F16, 16, 12, 16, 2);
                for (int64_t e0 = 0; e0 < 16; ++e0) {
                    for (int64_t e1 = 0; e1 < 12; ++e1) {
                        s[e0 * 12 + e1] = (((int32_t)e1 < (int32_t)(j_extent)) ? (s[e0 * 12 + e1] * 0.25f) : (-1e+30f));
                    }
                }
                vendor_lib_dma_copy(n, 1, m, 1, 16, 1, SEPTRAN_F32, 0);
                vendor_lib_sync(0, 0);
                vendor_lib_row_max(n, 1, SEPTRAN_F32, s, 12, 16, 12, SEPTRAN_F32);
                for (int64_t e0 = 0; e0 < 16; ++e0) {
                    r[e0] = __builtin_expf((m[e0] - n[e0]));
                }
                vendor_lib_dma_copy(m, 1, n, 1, 16, 1, SEPTRAN_F32, 0);
                vendor_lib_sync(0, 0);
                for (int64_t e0 = 0; e0 < 16; ++e0) {
                    for (int64_t e1 = 0; e1 < 12; ++e1) {
                        s[e0 * 12 + e1] = __builtin_expf((s[e0 * 12 + e1] - n[e0]));
                    }
                }
                vendor_lib_mul(l, 1, l, 1, r, 1, 16, 1, SEPTRAN_F32);
                vendor_lib_row_sum(l, 1, SEPTRAN_F32, s, 12, 16, 12, SEPTRAN_F32);
                vendor_lib_scale_rows(o, 16, o, 16, r, 1, 16, 16, SEPTRAN_F32);
                for (int64_t e0 = 0; e0 < 16; ++e0) {
                    for (int64_t e1 = 0; e1 < 12; ++e1) {
                        p[e0 * 12 + e1] = septran_to_f16(septran_round_f16((float)(s[e0 * 12 + e1])));
                    }
                }
                vendor_lib_mma(o, 16, SEPTRAN_F32, p, 12, v, 16, SEPTRAN_F16, 16, 16, 12, 0);
            }
            for (int64_t e0 = 0; e0 < 16; ++e0) {
                for (int64_t e1 = 0; e1 < 16; ++e1) {
                    o[e0 * 16 + e1] = (o[e0 * 16 + e1] / l[e0]);
                }
            }
            for (int64_t e0 = 0; e0 < i_extent; ++e0) {
                for (int64_t e1 = 0; e1 < 16; ++e1) {
                    O[h * L * 16 + (16 * i + e0) * 16 + e1] = septran_to_f16(septran_round_f16((float)(o[e0 * 16 + e1])));
                }
            }
        }
    }
}

void flash_attention(uint16_t *O, const uint16_t *Q, const uint16_t *K, const uint16_t *V, uint16_t *attend_q, uint16_t *attend_k, uint16_t *attend_v, float *attend_s, uint16_t *attend_p, float *attend_o, float *attend_m, float *attend_n, float *attend_r, float *attend_l, int64_t H, int64_t L, int64_t S) {
    run_attend(O, Q, K, V, attend_q, attend_k, attend_v, attend_s, attend_p, attend_o, attend_m, attend_n, attend_r, attend_l, H, L, S);
}
