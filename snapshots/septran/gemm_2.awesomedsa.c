/* gemm for awesomedsa */
#include "septran_elements.h"
#include "awesomedsa.h"

static void run_gemm(float *C, const float *A, const float *B, float *As, float *Bs, float *Cs, int64_t M, int64_t N, int64_t K) {
    for (int64_t i = 0; i < septran_floor_div(M + 15, 16); ++i) {
        for (int64_t j = 0; j < septran_floor_div(N + 23, 24); ++j) {
            const int64_t tiles = septran_floor_div(K + 7, 8);
            const int64_t i_extent = septran_min_i64(16, M - 16 * i);
            const int64_t j_extent = septran_min_i64(24, N - 24 * j);
            /* gemm_block.A is in SPM */
            vendor_lib_fill(Cs, 24, 16, 24, SEPTRAN_F32, 0.0);
            for (int64_t k_ahead = 0; k_ahead < septran_min_i64(1, tiles); ++k_ahead) {
                const int64_t k_ahead_slot = septran_mod(k_ahead, 2);
                const int64_t k_ahead_extent = septran_min_i64(8, K - 8 * k_ahead);
                if (i_extent < 16) {
                    vendor_lib_fill(&As[k_ahead_slot * 128 + i_extent * 8], 8, 16 - i_extent, 8, SEPTRAN_F32, 0.0);
                }
                if (k_ahead_extent < 8) {
                    vendor_lib_fill(&As[k_ahead_slot * 128 + k_ahead_extent], 8, i_extent, 8 - k_ahead_extent, SEPTRAN_F32, 0.0);
                }
                vendor_lib_dma_copy(&As[k_ahead_slot * 128], 8, &A[(16 * i) * K + 8 * k_ahead], K, i_extent, k_ahead_extent, SEPTRAN_F32, 1);
                if (k_ahead_extent < 8) {
                    vendor_lib_fill(&Bs[k_ahead_slot * 224 + k_ahead_extent * 28], 28, 8 - k_ahead_extent, 24, SEPTRAN_F32, 0.0);
                }
                if (j_extent < 24) {
                    vendor_lib_fill(&Bs[k_ahead_slot * 224 + j_extent], 28, k_ahead_extent, 24 - j_extent, SEPTRAN_F32, 0.0);
                }
                vendor_lib_dma_copy(&Bs[k_ahead_slot * 224], 28, &B[(8 * k_ahead) * N + 24 * j], N, k_ahead_extent, j_extent, SEPTRAN_F32, 1);
            }
            for (int64_t k = 0; k < tiles; ++k) {
                const int64_t k_slot = septran_mod(k, 2);
                const int64_t k_next_slot = septran_mod(k + 1, 2);
                const int64_t k_extent = septran_min_i64(8, K - 8 * k - 8);
                if (k + 1 < tiles) {
                    if (i_extent < 16) {
                        vendor_lib_fill(&As[k_next_slot * 128 + i_extent * 8], 8, 16 - i_extent, 8, SEPTRAN_F32, 0.0);
                    }
                    if (k_extent < 8) {
                        vendor_lib_fill(&As[k_next_slot * 128 + k_extent], 8, i_extent, 8 - k_extent, SEPTRAN_F32, 0.0);
                    }
                    vendor_lib_dma_copy(&As[k_next_slot * 128], 8, &A[(16 * i) * K + 8 * k + 8], K, i_extent, k_extent, SEPTRAN_F32, 1);
                    if (k_extent < 8) {
                        vendor_lib_fill(&Bs[k_next_slot * 224 + k_extent * 28], 28, 8 - k_extent, 24, SEPTRAN_F32, 0.0);
                    }
                    if (j_extent < 24) {
                        vendor_lib_fill(&Bs[k_next_slot * 224 + j_extent], 28, k_extent, 24 - j_extent, SEPTRAN_F32, 0.0);
                    }
                    vendor_lib_dma_copy(&Bs[k_next_slot * 224], 28, &B[(8 * k + 8) * N + 24 * j], N, k_extent, j_extent, SEPTRAN_F32, 1);
                }
                vendor_lib_sync(1, 2 * septran_min_i64(1, tiles - k - 1));
                vendor_lib_mma(Cs, 24, SEPTRAN_F32, &As[k_slot * 128], 8, &Bs[k_slot * 224], 28, SEPTRAN_F32, 16, 24, 8, 0);
            }
            vendor_lib_dma_copy(&C[(16 * i) * N + 24 * j], N, Cs, 24, i_extent, j_extent, SEPTRAN_F32, 0);
            vendor_lib_sync(0, 0);
        }
    }
}

void gemm(float *C, const float *A, const float *B, float *gemm_As, float *gemm_Bs, float *gemm_Cs, int64_t M, int64_t N, int64_t K) {
    run_gemm(C, A, B, gemm_As, gemm_Bs, gemm_Cs, M, N, K);
}
