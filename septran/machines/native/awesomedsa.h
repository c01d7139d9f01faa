/* The library of the AwesomeDSA, a fictional accelerator: a DMA engine with queues, a unit for matrix
 * products, a systolic array and a vector unit. All arrays are rows of elements; a stride is the number
 * of elements from one row to the next.
 *
 * `vendor_lib_dma_copy` only queues a copy. It has happened when `vendor_lib_sync` for its token has
 * returned: that waits until at most `keep` of the token's latest copies are still queued.
 */
#ifndef AWESOMEDSA_H
#define AWESOMEDSA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DSA_BOOL, DSA_I8, DSA_I16, DSA_I32, DSA_I64, DSA_U8, DSA_U16, DSA_U32, DSA_U64,
    DSA_F16, DSA_BF16, DSA_F32, DSA_F64
};

void vendor_lib_dma_copy(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                         int32_t rows, int32_t columns, int32_t dtype, int32_t token);
void vendor_lib_sync(int32_t token, int32_t keep);
void vendor_lib_fill(void *target, int32_t stride, int32_t rows, int32_t columns, int32_t dtype, double value);

/* target[m, n] += left[m, k] @ right[k, n]; bit 0 of `transposed`: left is [k, m], bit 1: right is [n, k]. */
void vendor_lib_mma(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed);
/* The same product, on the systolic array. */
void vendor_lib_systolic_compute(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                                 int32_t left_stride, const void *right, int32_t right_stride,
                                 int32_t dtype, int32_t m, int32_t n, int32_t k, int32_t transposed);

/* Element by element, all of one dtype (f16, bf16, f32 or f64). */
void vendor_lib_exp(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                    int32_t rows, int32_t columns, int32_t dtype);
void vendor_lib_gelu(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                     int32_t rows, int32_t columns, int32_t dtype);
void vendor_lib_add(void *target, int32_t target_stride, const void *left, int32_t left_stride,
                    const void *right, int32_t right_stride, int32_t rows, int32_t columns, int32_t dtype);
void vendor_lib_mul(void *target, int32_t target_stride, const void *left, int32_t left_stride,
                    const void *right, int32_t right_stride, int32_t rows, int32_t columns, int32_t dtype);
/* target[r, c] = source[r, c] * factors[r, 0] */
void vendor_lib_scale_rows(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                           const void *factors, int32_t factors_stride, int32_t rows, int32_t columns,
                           int32_t dtype);

/* target[r, 0] = max(target[r, 0], source[r, ...]), and the same with a sum. */
void vendor_lib_row_max(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
                        int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype);
void vendor_lib_row_sum(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
                        int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype);

/* How often each function was called; the names end with a null. */
extern const char *const vendor_lib_call_names[];
extern int64_t vendor_lib_call_counts[];

#ifdef __cplusplus
}
#endif

#endif
