/* The function of libxsmm.h, and how often it was called. */
#include "libxsmm.h"
#include "septran_elements.h"

void libxsmm_sgemm(const char *left_form, const char *right_form, const int *m, const int *n, const int *k,
                   const float *alpha, const float *left, const int *left_stride, const float *right,
                   const int *right_stride, const float *beta, float *target, const int *target_stride);

const char *const vendor_lib_call_names[] = {"libxsmm_sgemm", 0};
int64_t vendor_lib_call_counts[1];

/* The C library has this function for programs only, not for what they load. */
int __cxa_atexit(void (*function)(void *), void *argument, void *owner);
static void (*last)(void);
static void call_last(void *argument) {
    (void)argument;
    last();
}
int atexit(void (*function)(void)) {
    last = function;
    return __cxa_atexit(call_last, 0, 0);
}

/* Larger products, and those of transposed factors, LIBXSMM leaves to a BLAS, which is not there. */
enum { SIDE = 64 };
static _Thread_local float packed[2][SIDE * SIDE];

static const float *block_of(const float *factor, int *stride, int row, int column, int rows, int columns,
                             int is_transposed, float *scratch) {
    if (!is_transposed)
        return factor + (int64_t)row * *stride + column;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            scratch[i * SIDE + j] = factor[(int64_t)(column + j) * *stride + row + i];
    *stride = SIDE;
    return scratch;
}

static int least(int a, int b) { return a < b ? a : b; }

/* It counts columns first: a product of rows is that of the transposed factors, the right one first. */
void libxsmm_product(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                     int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                     int32_t n, int32_t k, int32_t transposed) {
    const float one = 1.0f;
    (void)target_dtype, (void)dtype;
    for (int i = 0; i < m; i += SIDE)
        for (int j = 0; j < n; j += SIDE)
            for (int p = 0; p < k; p += SIDE) {
                int rows = least(SIDE, m - i), columns = least(SIDE, n - j), depth = least(SIDE, k - p);
                int a_stride = left_stride, b_stride = right_stride, c_stride = target_stride;
                const float *a = block_of(left, &a_stride, i, p, rows, depth, transposed & 1, packed[0]);
                const float *b = block_of(right, &b_stride, p, j, depth, columns, transposed & 2, packed[1]);
                float *c = (float *)target + (int64_t)i * target_stride + j;
                libxsmm_sgemm("N", "N", &columns, &rows, &depth, &one, b, &b_stride, a, &a_stride, &one, c,
                              &c_stride);
                vendor_lib_call_counts[0] += 1;
            }
}
