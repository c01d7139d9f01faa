#include <stdint.h>

void otter_start(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
                 int32_t columns, int32_t dtype, int32_t token);
void otter_wait(int32_t token, int32_t keep);
void otter_multiply(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed);
void otter_exp(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
               int32_t columns, int32_t dtype);
void otter_max(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
               int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype);
