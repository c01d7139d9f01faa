/* A functional model of the accelerator of kestrel.h: it ends the process where hardware would do anything. */
#include "kestrel.h"
#include <stdlib.h>
#include <string.h>

enum { FETCH, PUSH, MULTIPLY, WHOLE, CALLS };
const char *const vendor_lib_call_names[] = {"KST_Fetch", "KST_Push", "KST_Multiply", "blocks", 0};
int64_t vendor_lib_call_counts[CALLS];

enum { QUEUES = 8, LENGTH = 64 };
typedef struct {
    float *target;
    const float *source;
    int32_t target_stride, source_stride, rows, columns;
} Copy;
static Copy copies[2][QUEUES][LENGTH];
static int32_t lengths[2][QUEUES];

static void add(int engine, int32_t queue, Copy copy) {
    if (queue >= QUEUES || lengths[engine][queue] == LENGTH)
        abort();
    copies[engine][queue][lengths[engine][queue]++] = copy;
}

/* Runs the oldest copies of a queue, so late that a missing join gives wrong results. */
static void join(int engine, int32_t queue, int32_t keep) {
    int32_t count = lengths[engine][queue] - keep;
    if (count <= 0)
        return;
    for (int32_t number = 0; number < count; number++) {
        Copy *copy = &copies[engine][queue][number];
        for (int32_t row = 0; row < copy->rows; row++)
            memcpy(copy->target + (int64_t)row * copy->target_stride,
                   copy->source + (int64_t)row * copy->source_stride, sizeof(float) * (size_t)copy->columns);
    }
    memmove(copies[engine][queue], copies[engine][queue] + count, sizeof(Copy) * (size_t)keep);
    lengths[engine][queue] = keep;
}

void KST_Fetch(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
               int32_t columns, int32_t dtype, int32_t queue) {
    (void)dtype;
    vendor_lib_call_counts[FETCH] += 1;
    add(0, queue, (Copy){target, source, target_stride, source_stride, rows, columns});
}

void KST_JoinStream(int32_t queue, int32_t keep) { join(0, queue, keep); }

void KST_Push(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
              int32_t columns, int32_t dtype, int32_t queue) {
    (void)dtype;
    vendor_lib_call_counts[PUSH] += 1;
    add(1, queue, (Copy){target, source, target_stride, source_stride, rows, columns});
}

void KST_JoinLocal(int32_t queue, int32_t keep) { join(1, queue, keep); }

void KST_Multiply(void *target, int32_t target_stride, int32_t target_dtype, const void *left, int32_t left_stride,
                  const void *right, int32_t right_stride, int32_t dtype, int32_t m, int32_t n, int32_t k,
                  int32_t transposed) {
    const float *a = left, *b = right;
    (void)target_dtype, (void)dtype;
    if (m % 4 || n % 16 || k % 8)
        abort();
    vendor_lib_call_counts[MULTIPLY] += 1;
    vendor_lib_call_counts[WHOLE] += (int64_t)(m / 4) * (n / 16) * (k / 8);
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            float *sum = (float *)target + (int64_t)i * target_stride + j;
            for (int32_t p = 0; p < k; p++)
                *sum += (transposed & 1 ? a[(int64_t)p * left_stride + i] : a[(int64_t)i * left_stride + p]) *
                        (transposed & 2 ? b[(int64_t)j * right_stride + p] : b[(int64_t)p * right_stride + j]);
        }
}
