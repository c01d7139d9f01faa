/* gemm for awesomedsa */
#include "septran_elements.h"
#include "awesomedsa.h"

static void run_gemm(float *C, const float *A, const float *B, float *As, float *Bs, float *Cs, int64_t M, int64_t N, int64_t K) {
    for (int64_t i = 0; i < septran_floor_div(M + 15, 16); ++i) {
        for (int64_t j = 0; j < septran_floor_div(N + 23, 24); ++j) {
            /* gemm_block.A is in SPM */
            vendor_lib_fill(Cs, 24, 16, 24, SEPTRAN_F32, 0.0);
            for (int64_t k_ahead = 0; k_ahead < septran_min_i64(1, septran_floor_div(K + 7, 8)); ++k_ahead) {
                if (septran_min_i64(16, M - 16 * i) < 16) {
                    vendor_lib_fill(&As[septran_mod(k_ahead, 2) * 128 + (septran_min_i64(16, M - 16 * i)) * 8], 8, 16 - septran_min_i64(16, M - 16 * i), 8, SEPTRAN_F32, 0.0);
                }
                if (septran_min_i64(8, K - 8 * k_ahead) < 8) {
                    vendor_lib_fill(&As[septran_mod(k_ahead, 2) * 128 + septran_min_i64(8, K - 8 * k_ahead)], 8, septran_min_i64(16, M - 16 * i), 8 - septran_min_i64(8, K - 8 * k_ahead), SEPTRAN_F32, 0.0);
                }
                vendor_lib_dma_copy(&As[septran_mod(k_ahead, 2) * 128], 8, &A[(16 * i) * K + 8 * k_ahead], K, septran_min_i64(16, M - 16 * i), septran_min_i64(8, K - 8 * k_ahead), SEPTRAN_F32, 1);
                if (septran_min_i64(8, K - 8 * k_ahead) < 8) {
                    vendor_lib_fill(&Bs[septran_mod(k_ahead, 2) * 224 + (septran_min_i64(8, K - 8 * k_ahead)) * 28], 28, 8 - septran_min_i64(8, K - 8 * k_ahead), 24, SEPTRAN_F32, 0.0);
                }
                if (septran_min_i64(24, N - 24 * j) < 24) {
                    vendor_lib_fill(&Bs[septran_mod(k_ahead, 2) * 224 + septran_min_i64(24, N - 24 * j)], 28, septran_min_i64(8, K - 8 * k_ahead), 24 - septran_min_i64(24, N - 24 * j), SEPTRAN_F32, 0.0);
                }
                vendor_lib_dma_copy(&Bs[septran_mod(k_ahead, 2) * 224], 28, &B[(8 * k_ahead) * N + 24 * j], N, septran_min_i64(8, K - 8 * k_ahead), septran_min_i64(24, N - 24 * j), SEPTRAN_F32, 1);
            }
            for (int64_t k = 0; k < septran_floor_div(K + 7, 8); ++k) {
                if (k + 1 < septran_floor_div(K + 7, 8)) {
                    if (septran_min_i64(16, M - 16 * i) < 16) {
                        vendor_lib_fill(&As[septran_mod(k + 1, 2) * 128 + (septran_min_i64(16, M - 16 * i)) * 8], 8, 16 - septran_min_i64(16, M - 16 * i), 8, SEPTRAN_F32, 0.0);
                    }
                    if (septran_min_i64(8, K - 8 * k - 8) < 8) {
                        vendor_lib_fill(&As[septran_mod(k + 1, 2) * 128 + septran_min_i64(8, K - 8 * k - 8)], 8, septran_min_i64(16, M - 16 * i), 8 - septran_min_i64(8, K - 8 * k - 8), SEPTRAN_F32, 0.0);
                    }
                    vendor_lib_dma_copy(&As[septran_mod(k + 1, 2) * 128], 8, &A[(16 * i) * K + 8 * k + 8], K, septran_min_i64(16, M - 16 * i), septran_min_i64(8, K - 8 * k - 8), SEPTRAN_F32, 1);
                    if (septran_min_i64(8, K - 8 * k - 8) < 8) {
                        vendor_lib_fill(&Bs[septran_mod(k + 1, 2) * 224 + (septran_min_i64(8, K - 8 * k - 8)) * 28], 28, 8 - septran_min_i64(8, K - 8 * k - 8), 24, SEPTRAN_F32, 0.0);
                    }
                    if (septran_min_i64(24, N - 24 * j) < 24) {
                        vendor_lib_fill(&Bs[septran_mod(k + 1, 2) * 224 + septran_min_i64(24, N - 24 * j)], 28, septran_min_i64(8, K - 8 * k - 8), 24 - septran_min_i64(24, N - 24 * j), SEPTRAN_F32, 0.0);
                    }
                    vendor_lib_dma_copy(&Bs[septran_mod(k + 1, 2) * 224], 28, &B[(8 * k + 8) * N + 24 * j], N, septran_min_i64(8, K - 8 * k - 8), septran_min_i64(24, N - 24 * j), SEPTRAN_F32, 1);
                }
                vendor_lib_sync(1, 2 * septran_min_i64(1, septran_floor_div(K + 7, 8) - k - 1));
                vendor_lib_mma(Cs, 24, SEPTRAN_F32, &As[septran_mod(k, 2) * 128], 8, &Bs[septran_mod(k, 2) * 224], 28, SEPTRAN_F32, 16, 24, 8, 0);
            }
            vendor_lib_dma_copy(&C[(16 * i) * N + 24 * j], N, Cs, 24, septran_min_i64(16, M - 16 * i), septran_min_i64(24, N - 24 * j), SEPTRAN_F32, 0);
            vendor_lib_sync(0, 0);
        }
    }
}

void gemm(float *C, const float *A, const float *B, float *gemm_As, float *gemm_Bs, float *gemm_Cs, int64_t M, int64_t N, int64_t K) {
    run_gemm(C, A, B, gemm_As, gemm_Bs, gemm_Cs, M, N, K);
}
