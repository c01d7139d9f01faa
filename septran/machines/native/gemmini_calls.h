/* SepTran's signatures in terms of Gemmini's calls. An array in SPM or ACC is a number: the memory in its
 * upper bits, and below them bytes. Wider arrays are panels of 16 columns; their stride is that of panels. */
#ifndef GEMMINI_CALLS_H
#define GEMMINI_CALLS_H

#include <stdint.h>

void gemmini_move_in(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                     int32_t rows, int32_t columns, int32_t dtype, int32_t token);
void gemmini_move_out(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                      int32_t rows, int32_t columns, int32_t dtype, int32_t token);
void gemmini_wait(int32_t token, int32_t keep);
void gemmini_fill(void *target, int32_t stride, int32_t rows, int32_t columns, int32_t dtype, double value);
/* Factors and sums that lie in GLOBAL are moved block by block. */
void gemmini_matmul(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed);

#endif
