/* The functions of gemmini_calls.h: loops over blocks of 16 by 16. */
#include "gemmini_calls.h"
#include "gemmini.h"

/* Blocks that mappings do not use, for factors and sums in GLOBAL. */
enum {
    STAGED_A = GEMMINI_SPAD_ROWS - 2 * DIM,
    STAGED_B = GEMMINI_SPAD_ROWS - DIM,
    STAGED_C = GEMMINI_ACC_ROWS - DIM
};

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t memory_of(const void *address) { return (int32_t)((uintptr_t)address >> 60); }

/* The row of a block in a local memory, whose panels are `stride` elements apart. */
static uint32_t block_of(const void *address, int32_t stride, int32_t row, int32_t column) {
    uint32_t first = (uint32_t)(((uintptr_t)address & 0xFFFFFFF) / (DIM * sizeof(float)));
    uint32_t flag = memory_of(address) == 2 ? GEMMINI_ACCUMULATOR : 0;
    return flag | (first + (uint32_t)(column / DIM * (stride / DIM) + row));
}

void gemmini_move_in(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                     int32_t rows, int32_t columns, int32_t dtype, int32_t token) {
    (void)dtype, (void)token;
    gemmini_config_ld((int64_t)source_stride * sizeof(float));
    for (int32_t j = 0; j < columns; j += DIM)
        for (int32_t i = 0; i < rows; i += DIM)
            gemmini_extended_mvin((const float *)source + (int64_t)i * source_stride + j,
                                  block_of(target, target_stride, i, j), least(DIM, columns - j),
                                  least(DIM, rows - i));
}

void gemmini_move_out(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                      int32_t rows, int32_t columns, int32_t dtype, int32_t token) {
    (void)dtype, (void)token;
    gemmini_config_st((int64_t)target_stride * sizeof(float));
    for (int32_t j = 0; j < columns; j += DIM)
        for (int32_t i = 0; i < rows; i += DIM)
            gemmini_extended_mvout((float *)target + (int64_t)i * target_stride + j,
                                   block_of(source, source_stride, i, j), least(DIM, columns - j),
                                   least(DIM, rows - i));
}

/* A fence waits for all that was queued. */
void gemmini_wait(int32_t token, int32_t keep) {
    (void)token, (void)keep;
    gemmini_fence();
}

/* One row of the number, moved in again and again: its stride is 0. */
void gemmini_fill(void *target, int32_t stride, int32_t rows, int32_t columns, int32_t dtype, double value) {
    float row[DIM];
    (void)dtype;
    for (int32_t j = 0; j < DIM; ++j)
        row[j] = (float)value;
    gemmini_config_ld(0);
    for (int32_t j = 0; j < columns; j += DIM)
        for (int32_t i = 0; i < rows; i += DIM)
            gemmini_extended_mvin(value == 0 ? 0 : row, block_of(target, stride, i, j), least(DIM, columns - j),
                                  least(DIM, rows - i));
    if (value != 0)
        gemmini_fence();
}

typedef struct {
    const float *address;
    int32_t stride, is_transposed;
    uint32_t staged;
} Factor;

static int32_t is_global(const void *address) { return memory_of(address) == 0; }

/* The local rows of a block of a factor; one in GLOBAL is moved in. `height` and `width` are those of the
 * block as it is stored. */
static uint32_t factor_block(const Factor *factor, int32_t row, int32_t column, int32_t height, int32_t width) {
    if (factor->is_transposed) {
        int32_t other = row;
        row = column, column = other;
    }
    if (!is_global(factor->address))
        return block_of(factor->address, factor->stride, row, column);
    gemmini_config_ld((int64_t)factor->stride * sizeof(float));
    gemmini_extended_mvin(factor->address + (int64_t)row * factor->stride + column, factor->staged, width,
                          height);
    return factor->staged;
}

/* sums += left[i, p] @ right[p, j], by one pass of the array; the right factor may stay in it. */
static void multiply(const Factor *left, const Factor *right, uint32_t sums_at, int32_t i, int32_t j, int32_t p,
                     int32_t height, int32_t width, int32_t depth, int32_t is_kept) {
    int32_t b_rows = right->is_transposed ? width : depth, b_cols = right->is_transposed ? depth : width;
    int32_t a_rows = left->is_transposed ? depth : height, a_cols = left->is_transposed ? height : depth;
    uint32_t b = is_kept ? GARBAGE_ADDR : factor_block(right, p, j, b_rows, b_cols);
    uint32_t a = factor_block(left, i, p, a_rows, a_cols);
    gemmini_extended_preload(b, sums_at | GEMMINI_ACCUMULATE, b_cols, b_rows, width, height);
    if (is_kept)
        gemmini_extended_compute_accumulated(a, GARBAGE_ADDR, a_cols, a_rows);
    else
        gemmini_extended_compute_preloaded(a, GARBAGE_ADDR, a_cols, a_rows);
}

static void add_to_accumulators(void *target, int32_t stride, const Factor *left, const Factor *right, int32_t m,
                                int32_t n, int32_t k) {
    for (int32_t j = 0; j < n; j += DIM)
        for (int32_t p = 0; p < k; p += DIM)
            for (int32_t i = 0; i < m; i += DIM)
                multiply(left, right, block_of(target, stride, i, j), i, j, p, least(DIM, m - i),
                         least(DIM, n - j), least(DIM, k - p), i > 0);
}

static void add_to_global(float *target, int32_t stride, const Factor *left, const Factor *right, int32_t m,
                          int32_t n, int32_t k) {
    uint32_t sums_at = GEMMINI_ACCUMULATOR | STAGED_C;
    gemmini_config_st((int64_t)stride * sizeof(float));
    for (int32_t j = 0; j < n; j += DIM)
        for (int32_t i = 0; i < m; i += DIM) {
            float *block = target + (int64_t)i * stride + j;
            int32_t height = least(DIM, m - i), width = least(DIM, n - j);
            gemmini_config_ld((int64_t)stride * sizeof(float));
            gemmini_extended_mvin(block, sums_at, width, height);
            for (int32_t p = 0; p < k; p += DIM)
                multiply(left, right, sums_at, i, j, p, height, width, least(DIM, k - p), 0);
            gemmini_extended_mvout(block, sums_at, width, height);
        }
}

void gemmini_matmul(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed) {
    Factor a = {left, left_stride, transposed & 1, STAGED_A};
    Factor b = {right, right_stride, (transposed & 2) != 0, STAGED_B};
    (void)target_dtype, (void)dtype;
    gemmini_config_ex(a.is_transposed, b.is_transposed);
    if (is_global(target))
        add_to_global(target, target_stride, &a, &b, m, n, k);
    else
        add_to_accumulators(target, target_stride, &a, &b, m, n, k);
    if (is_global(target) || is_global(left) || is_global(right))
        gemmini_fence();
}
