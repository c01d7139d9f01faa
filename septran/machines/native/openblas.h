/* OpenBLAS of the wheel scipy-openblas32, whose names begin with `scipy_`. One thread computes a tile. */
#ifndef SEPTRAN_OPENBLAS_H
#define SEPTRAN_OPENBLAS_H

#include <stdint.h>

/* target[m, n] += left[m, k] @ right[k, n]; bit 0 of `transposed`: left is [k, m], bit 1: right is [n, k]. */
void openblas_gemm(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                   int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                   int32_t n, int32_t k, int32_t transposed);

#endif
