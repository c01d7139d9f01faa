/* A functional model: descriptors wait in a queue, and are copied as late as they may be. */
#include "otter.h"
#include "septran_elements.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { START, WAIT, MULTIPLY, EXP, MAX, CALLS };
const char *const vendor_lib_call_names[] = {"start", "wait", "multiply", "exp", "max", 0};
int64_t vendor_lib_call_counts[CALLS];

enum { LENGTH = 128 };
typedef struct {
    char *target;
    const char *source;
    int64_t target_stride, source_stride, rows, row_bytes;
    int32_t token;
} Descriptor;
static Descriptor queue[LENGTH];
static int queued;

static int64_t bytes_of(int32_t dtype) {
    assert(dtype == SEPTRAN_F16 || dtype == SEPTRAN_F32);
    return dtype == SEPTRAN_F16 ? 2 : 4;
}

void otter_start(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
                 int32_t columns, int32_t dtype, int32_t token) {
    vendor_lib_call_counts[START] += 1;
    int64_t size = bytes_of(dtype);
    assert(queued < LENGTH);
    queue[queued++] = (Descriptor){
        target, source, target_stride * size, source_stride * size, rows, columns * size, token};
}

static void copy(const Descriptor *each) {
    for (int64_t row = 0; row < each->rows; ++row)
        memcpy(each->target + row * each->target_stride, each->source + row * each->source_stride,
               (size_t)each->row_bytes);
}

void otter_wait(int32_t token, int32_t keep) {
    vendor_lib_call_counts[WAIT] += 1;
    int of_token = 0, kept = 0;
    for (int number = 0; number < queued; ++number)
        of_token += queue[number].token == token;
    for (int number = 0; number < queued; ++number) {
        if (queue[number].token == token && of_token-- > keep)
            copy(&queue[number]);
        else
            queue[kept++] = queue[number];
    }
    queued = kept;
}

static float at(const void *array, int64_t position, int32_t dtype) {
    return dtype == SEPTRAN_F16 ? septran_from_f16(((const uint16_t *)array)[position])
                                : ((const float *)array)[position];
}

void otter_multiply(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed) {
    vendor_lib_call_counts[MULTIPLY] += 1;
    assert(target_dtype == SEPTRAN_F32 && m % 8 == 0 && n % 8 == 0 && k % 4 == 0);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t p = 0; p < k; ++p) {
                int64_t a = transposed & 1 ? p * left_stride + i : i * left_stride + p;
                int64_t b = transposed & 2 ? j * right_stride + p : p * right_stride + j;
                ((float *)target)[i * target_stride + j] += at(left, a, dtype) * at(right, b, dtype);
            }
}

void otter_exp(void *target, int32_t target_stride, const void *source, int32_t source_stride, int32_t rows,
               int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[EXP] += 1;
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            ((float *)target)[i * target_stride + j] = expf(at(source, i * source_stride + j, dtype));
}

void otter_max(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
               int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[MAX] += 1;
    assert(target_dtype == SEPTRAN_F32);
    for (int64_t i = 0; i < rows; ++i) {
        float *highest = (float *)target + i * target_stride;
        for (int64_t j = 0; j < columns; ++j)
            *highest = septran_max_f32(*highest, at(source, i * source_stride + j, dtype));
    }
}
