/* The function of openblas.h, and how often it was called. */
#include "openblas.h"
#include "septran_elements.h"

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

void scipy_openblas_set_num_threads(int threads);
void scipy_cblas_sgemm(int order, int left_form, int right_form, int m, int n, int k, float alpha,
                       const float *left, int left_stride, const float *right, int right_stride, float beta,
                       float *target, int target_stride);
void scipy_cblas_dgemm(int order, int left_form, int right_form, int m, int n, int k, double alpha,
                       const double *left, int left_stride, const double *right, int right_stride, double beta,
                       double *target, int target_stride);

const char *const vendor_lib_call_names[] = {"cblas_sgemm", "cblas_dgemm", 0};
int64_t vendor_lib_call_counts[2];

__attribute__((constructor)) static void use_one_thread(void) { scipy_openblas_set_num_threads(1); }

void openblas_gemm(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                   int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                   int32_t n, int32_t k, int32_t transposed) {
    int left_form = transposed & 1 ? TRANSPOSED : AS_IT_IS, right_form = transposed & 2 ? TRANSPOSED : AS_IT_IS;
    (void)target_dtype;
    if (m == 0 || n == 0 || k == 0)
        return;
    vendor_lib_call_counts[dtype == SEPTRAN_F64] += 1;
    if (dtype == SEPTRAN_F64)
        scipy_cblas_dgemm(ROW_MAJOR, left_form, right_form, m, n, k, 1.0, left, left_stride, right, right_stride,
                          1.0, target, target_stride);
    else
        scipy_cblas_sgemm(ROW_MAJOR, left_form, right_form, m, n, k, 1.0f, left, left_stride, right, right_stride,
                          1.0f, target, target_stride);
}
