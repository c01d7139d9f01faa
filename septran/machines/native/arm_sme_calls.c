/* The functions of arm_sme_calls.h. Tile 0 of ZA holds sums; tiles 1 and 2 turn rows of a factor into columns. */
#include "arm_sme_calls.h"
#include <arm_sme.h>

const char *const vendor_lib_call_names[] = {"arm_sme_gemm", "fmopa", 0};
int64_t vendor_lib_call_counts[2];

typedef struct {
    const float *at;
    int64_t stride;
    int32_t is_columns;  /* whether what is multiplied at one step lies in a column */
} Factor;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* sums[i:, j:] += left[i:, p:] @ right[p:, j:], one tile of ZA, `depth` steps. */
static inline __attribute__((always_inline)) void add_steps(Factor left, Factor right, int64_t i, int64_t j, int64_t p, int64_t rows, int64_t columns,
                      int64_t depth) __arm_streaming __arm_inout("za") {
    svbool_t in_rows = svwhilelt_b32_s64(0, rows), in_columns = svwhilelt_b32_s64(0, columns);
    svbool_t in_depth = svwhilelt_b32_s64(0, depth);
    if (left.is_columns)
        for (int64_t r = 0; r < rows; ++r)
            svld1_hor_za32(1, (uint32_t)r, in_depth, left.at + (i + r) * left.stride + p);
    if (right.is_columns)
        for (int64_t c = 0; c < columns; ++c)
            svld1_hor_za32(2, (uint32_t)c, in_depth, right.at + (j + c) * right.stride + p);
    for (int64_t q = 0; q < depth; ++q) {
        svfloat32_t none = svdup_n_f32(0.0f), a, b;
        if (left.is_columns)
            a = svread_ver_za32_f32_m(none, in_rows, 1, (uint32_t)q);
        else
            a = svld1_f32(in_rows, left.at + (p + q) * left.stride + i);
        if (right.is_columns)
            b = svread_ver_za32_f32_m(none, in_columns, 2, (uint32_t)q);
        else
            b = svld1_f32(in_columns, right.at + (p + q) * right.stride + j);
        svmopa_za32_f32_m(0, in_rows, in_columns, a, b);
    }
}

__arm_locally_streaming __arm_new("za") static void multiply(float *target, int64_t stride, Factor left,
                                                             Factor right, int64_t m, int64_t n, int64_t k) {
    int64_t lanes = (int64_t)svcntw();
    svzero_za();
    for (int64_t i = 0; i < m; i += lanes)
        for (int64_t j = 0; j < n; j += lanes) {
            int64_t rows = least(lanes, m - i), columns = least(lanes, n - j);
            svbool_t in_columns = svwhilelt_b32_s64(0, columns);
            for (int64_t r = 0; r < rows; ++r)
                svld1_hor_za32(0, (uint32_t)r, in_columns, target + (i + r) * stride + j);
            for (int64_t p = 0; p < k; p += lanes)
                add_steps(left, right, i, j, p, rows, columns, least(lanes, k - p));
            for (int64_t r = 0; r < rows; ++r)
                svst1_hor_za32(0, (uint32_t)r, in_columns, target + (i + r) * stride + j);
        }
}

void arm_sme_gemm(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                  int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                  int32_t n, int32_t k, int32_t transposed) {
    Factor a = {left, left_stride, !(transposed & 1)}, b = {right, right_stride, (transposed & 2) != 0};
    int64_t lanes = arm_sme_lanes();
    (void)target_dtype, (void)dtype;
    vendor_lib_call_counts[0] += 1;
    vendor_lib_call_counts[1] += (m + lanes - 1) / lanes * ((n + lanes - 1) / lanes) * k;
    multiply(target, target_stride, a, b, m, n, k);
}

__arm_locally_streaming int64_t arm_sme_lanes(void) { return (int64_t)svcntw(); }

/* What a program that saves ZA over calls would need; nothing here does. */
__asm__(".weak __arm_tpidr2_save\n__arm_tpidr2_save:\n ret\n"
        ".weak __arm_tpidr2_restore\n__arm_tpidr2_restore:\n ret\n"
        ".weak __arm_za_disable\n__arm_za_disable:\n ret\n");
