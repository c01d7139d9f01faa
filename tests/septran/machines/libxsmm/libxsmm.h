/* Products of tiles by LIBXSMM. Only what is used of it is declared: its own header needs a whole C library. */
#pragma once
#include <stdint.h>

void libxsmm_product(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                     int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                     int32_t n, int32_t k, int32_t transposed);
