/* Matrix products by Arm's Scalable Matrix Extension: outer products into ZA, of any vector length. */
#ifndef SEPTRAN_ARM_SME_CALLS_H
#define SEPTRAN_ARM_SME_CALLS_H

#include <stdint.h>

/* target[m, n] += left[m, k] @ right[k, n]; bit 0 of `transposed`: left is [k, m], bit 1: right is [n, k]. */
void arm_sme_gemm(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                  int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                  int32_t n, int32_t k, int32_t transposed);
/* The f32 numbers of a vector in streaming mode. */
int64_t arm_sme_lanes(void);

#endif
