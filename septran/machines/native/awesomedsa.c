/* The functions of awesomedsa.h. Every number is computed in double or float and rounded when it is stored. */
#include "awesomedsa.h"
#include "septran_elements.h"

enum {
    DMA_COPY, SYNC, FILL, MMA, SYSTOLIC, EXP, GELU, ADD, MUL, SCALE_ROWS, ROW_MAX, ROW_SUM, CALLS
};

const char *const vendor_lib_call_names[] = {
    "vendor_lib_dma_copy", "vendor_lib_sync", "vendor_lib_fill", "vendor_lib_mma",
    "vendor_lib_systolic_compute", "vendor_lib_exp", "vendor_lib_gelu", "vendor_lib_add", "vendor_lib_mul",
    "vendor_lib_scale_rows", "vendor_lib_row_max", "vendor_lib_row_sum", 0
};
int64_t vendor_lib_call_counts[CALLS];

static const int element_bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

static char *element(const void *array, int64_t position, int32_t dtype) {
    return (char *)array + position * element_bytes[dtype];
}

static double load(const void *array, int64_t position, int32_t dtype) {
    const void *at = element(array, position, dtype);
    switch (dtype) {
    case DSA_F16: return septran_from_f16(*(const uint16_t *)at);
    case DSA_BF16: return septran_from_bf16(*(const uint16_t *)at);
    case DSA_F32: return *(const float *)at;
    case DSA_F64: return *(const double *)at;
    case DSA_I8: return *(const int8_t *)at;
    case DSA_I16: return *(const int16_t *)at;
    case DSA_I32: return *(const int32_t *)at;
    case DSA_I64: return (double)*(const int64_t *)at;
    case DSA_BOOL: case DSA_U8: return *(const uint8_t *)at;
    case DSA_U16: return *(const uint16_t *)at;
    case DSA_U32: return *(const uint32_t *)at;
    default: return (double)*(const uint64_t *)at;
    }
}

static void store(void *array, int64_t position, int32_t dtype, double value) {
    void *at = element(array, position, dtype);
    switch (dtype) {
    case DSA_F16: *(uint16_t *)at = septran_to_f16(septran_narrow(value)); break;
    case DSA_BF16: *(uint16_t *)at = septran_to_bf16(septran_narrow(value)); break;
    case DSA_F32: *(float *)at = (float)value; break;
    case DSA_F64: *(double *)at = value; break;
    case DSA_I8: *(int8_t *)at = (int8_t)value; break;
    case DSA_I16: *(int16_t *)at = (int16_t)value; break;
    case DSA_I32: *(int32_t *)at = (int32_t)value; break;
    case DSA_I64: *(int64_t *)at = (int64_t)value; break;
    case DSA_BOOL: case DSA_U8: *(uint8_t *)at = (uint8_t)value; break;
    case DSA_U16: *(uint16_t *)at = (uint16_t)value; break;
    case DSA_U32: *(uint32_t *)at = (uint32_t)value; break;
    default: *(uint64_t *)at = (uint64_t)value; break;
    }
}

/* The DMA engine: one queue for each token. A copy runs when it leaves its queue, as late as possible. */
typedef struct {
    void *target;
    const void *source;
    int32_t target_stride, source_stride, rows, columns, dtype;
} Transfer;

enum { TOKENS = 64, QUEUE = 256 };

static Transfer queues[TOKENS][QUEUE];
static int32_t heads[TOKENS], lengths[TOKENS];

static void run_oldest(int32_t token) {
    const Transfer *next = &queues[token][heads[token]];
    int64_t bytes = (int64_t)next->columns * element_bytes[next->dtype];
    for (int32_t row = 0; row < next->rows; ++row)
        __builtin_memcpy(element(next->target, (int64_t)row * next->target_stride, next->dtype),
                         element(next->source, (int64_t)row * next->source_stride, next->dtype), bytes);
    heads[token] = (heads[token] + 1) % QUEUE;
    lengths[token] -= 1;
}

void vendor_lib_dma_copy(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                         int32_t rows, int32_t columns, int32_t dtype, int32_t token) {
    vendor_lib_call_counts[DMA_COPY] += 1;
    token %= TOKENS;
    if (lengths[token] == QUEUE)  /* the engine waits for room, as hardware does */
        run_oldest(token);
    Transfer *next = &queues[token][(heads[token] + lengths[token]) % QUEUE];
    *next = (Transfer){target, source, target_stride, source_stride, rows, columns, dtype};
    lengths[token] += 1;
}

void vendor_lib_sync(int32_t token, int32_t keep) {
    vendor_lib_call_counts[SYNC] += 1;
    token %= TOKENS;
    while (lengths[token] > keep)
        run_oldest(token);
}

void vendor_lib_fill(void *target, int32_t stride, int32_t rows, int32_t columns, int32_t dtype, double value) {
    vendor_lib_call_counts[FILL] += 1;
    for (int32_t row = 0; row < rows; ++row)
        for (int32_t column = 0; column < columns; ++column)
            store(target, (int64_t)row * stride + column, dtype, value);
}

static void multiply_f32(float *target, int32_t target_stride, const float *left, int32_t left_stride,
                         const float *right, int32_t right_stride, int32_t m, int32_t n, int32_t k) {
    for (int32_t i = 0; i < m; ++i)
        for (int32_t p = 0; p < k; ++p) {
            float factor = left[(int64_t)i * left_stride + p];
            for (int32_t j = 0; j < n; ++j)
                target[(int64_t)i * target_stride + j] += factor * right[(int64_t)p * right_stride + j];
        }
}

static void multiply(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                     int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                     int32_t n, int32_t k, int32_t transposed) {
    if (target_dtype == DSA_F32 && dtype == DSA_F32 && transposed == 0) {
        multiply_f32(target, target_stride, left, left_stride, right, right_stride, m, n, k);
        return;
    }
    int32_t is_double = target_dtype == DSA_F64 || target_dtype <= DSA_U64;
    int64_t left_row = transposed & 1 ? 1 : left_stride, left_step = transposed & 1 ? left_stride : 1;
    int64_t right_row = transposed & 2 ? 1 : right_stride, right_step = transposed & 2 ? right_stride : 1;
    for (int32_t i = 0; i < m; ++i)
        for (int32_t j = 0; j < n; ++j) {
            int64_t at = (int64_t)i * target_stride + j;
            double sum = load(target, at, target_dtype);
            for (int32_t p = 0; p < k; ++p) {
                sum += load(left, i * left_row + p * left_step, dtype) *
                       load(right, p * right_row + j * right_step, dtype);
                sum = is_double ? sum : (float)sum;
            }
            store(target, at, target_dtype, sum);
        }
}

void vendor_lib_mma(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                    int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype, int32_t m,
                    int32_t n, int32_t k, int32_t transposed) {
    vendor_lib_call_counts[MMA] += 1;
    multiply(target, target_stride, target_dtype, left, left_stride, right, right_stride, dtype, m, n, k,
             transposed);
}

/* A systolic array keeps a tile of the right factor and streams the left one: the depth is cut to its side. */
void vendor_lib_systolic_compute(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                                 int32_t left_stride, const void *right, int32_t right_stride,
                                 int32_t dtype, int32_t m, int32_t n, int32_t k, int32_t transposed) {
    enum { SIDE = 16 };
    vendor_lib_call_counts[SYSTOLIC] += 1;
    for (int32_t p = 0; p < k; p += SIDE) {
        int64_t left_at = transposed & 1 ? (int64_t)p * left_stride : p;
        int64_t right_at = transposed & 2 ? p : (int64_t)p * right_stride;
        multiply(target, target_stride, target_dtype, element(left, left_at, dtype), left_stride,
                 element(right, right_at, dtype), right_stride, dtype, m, n, k - p < SIDE ? k - p : SIDE,
                 transposed);
    }
}

typedef double Function(double, double, int32_t);

static double exponential(double x, double y, int32_t dtype) {
    (void)y;
    return dtype == DSA_F64 ? __builtin_exp(x) : __builtin_expf((float)x);
}

static double gelu(double x, double y, int32_t dtype) {
    (void)y;
    return dtype == DSA_F64 ? septran_gelu_f64(x) : septran_gelu_f32((float)x);
}

static double sum(double x, double y, int32_t dtype) {
    return dtype == DSA_F64 ? x + y : (float)x + (float)y;
}

static double product(double x, double y, int32_t dtype) {
    return dtype == DSA_F64 ? x * y : (float)x * (float)y;
}

static void map(Function *function, void *target, int32_t target_stride, const void *left, int32_t left_stride,
                const void *right, int32_t right_stride, int32_t right_step, int32_t rows, int32_t columns,
                int32_t dtype) {
    for (int32_t row = 0; row < rows; ++row)
        for (int32_t column = 0; column < columns; ++column) {
            double x = load(left, (int64_t)row * left_stride + column, dtype);
            double y = load(right, (int64_t)row * right_stride + (int64_t)column * right_step, dtype);
            store(target, (int64_t)row * target_stride + column, dtype, function(x, y, dtype));
        }
}

void vendor_lib_exp(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                    int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[EXP] += 1;
    map(exponential, target, target_stride, source, source_stride, source, source_stride, 1, rows, columns, dtype);
}

void vendor_lib_gelu(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                     int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[GELU] += 1;
    map(gelu, target, target_stride, source, source_stride, source, source_stride, 1, rows, columns, dtype);
}

void vendor_lib_add(void *target, int32_t target_stride, const void *left, int32_t left_stride,
                    const void *right, int32_t right_stride, int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[ADD] += 1;
    map(sum, target, target_stride, left, left_stride, right, right_stride, 1, rows, columns, dtype);
}

void vendor_lib_mul(void *target, int32_t target_stride, const void *left, int32_t left_stride,
                    const void *right, int32_t right_stride, int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[MUL] += 1;
    map(product, target, target_stride, left, left_stride, right, right_stride, 1, rows, columns, dtype);
}

void vendor_lib_scale_rows(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                           const void *factors, int32_t factors_stride, int32_t rows, int32_t columns,
                           int32_t dtype) {
    vendor_lib_call_counts[SCALE_ROWS] += 1;
    map(product, target, target_stride, source, source_stride, factors, factors_stride, 0, rows, columns, dtype);
}

void vendor_lib_row_max(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
                        int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[ROW_MAX] += 1;
    for (int32_t row = 0; row < rows; ++row) {
        double top = load(target, (int64_t)row * target_stride, target_dtype);
        for (int32_t column = 0; column < columns; ++column)
            top = septran_max_f64(top, load(source, (int64_t)row * source_stride + column, dtype));
        store(target, (int64_t)row * target_stride, target_dtype, top);
    }
}

void vendor_lib_row_sum(void *target, int32_t target_stride, int32_t target_dtype, const void *source,
                        int32_t source_stride, int32_t rows, int32_t columns, int32_t dtype) {
    vendor_lib_call_counts[ROW_SUM] += 1;
    for (int32_t row = 0; row < rows; ++row) {
        double total = load(target, (int64_t)row * target_stride, target_dtype);
        for (int32_t column = 0; column < columns; ++column) {
            total += load(source, (int64_t)row * source_stride + column, dtype);
            total = target_dtype == DSA_F64 ? total : (float)total;
        }
        store(target, (int64_t)row * target_stride, target_dtype, total);
    }
}
