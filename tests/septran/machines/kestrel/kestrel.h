/* Two copy engines, whose queues run when they are joined, and a unit for products of 4 by 16 by 8 in f32. */
#ifndef KESTREL_H
#define KESTREL_H

#include <stdint.h>

void KST_Fetch(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
               int32_t columns, int32_t dtype, int32_t queue);
void KST_JoinStream(int32_t queue, int32_t keep);
void KST_Push(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
              int32_t columns, int32_t dtype, int32_t queue);
void KST_JoinLocal(int32_t queue, int32_t keep);
void KST_Multiply(void *target, int32_t target_stride, int32_t target_dtype, const void *left, int32_t left_stride,
                  const void *right, int32_t right_stride, int32_t dtype, int32_t m, int32_t n, int32_t k,
                  int32_t transposed);

extern const char *const vendor_lib_call_names[];
extern int64_t vendor_lib_call_counts[];

#endif
