/* The library of an accelerator that takes commands: a command works on descriptors of matrices, and runs
 * when the queue of its channel is drained. The functions at the end have SepTran's signatures.
 */
#ifndef PEBBLE_H
#define PEBBLE_H

#include <stdint.h>

typedef struct {
    void *address;
    int32_t pitch, rows, columns, dtype;  /* the dtypes are those of SepTran */
} PebbleMatrix;

void pebble_queue_move(PebbleMatrix target, PebbleMatrix source, int32_t channel);
void pebble_drain_channel(int32_t channel, int32_t left);
/* target += left @ right, by blocks of 8 by 8 by 8; `is_flipped`: the right factor is transposed. */
void pebble_multiply(PebbleMatrix target, PebbleMatrix left, PebbleMatrix right, int32_t is_flipped);
void pebble_powers(PebbleMatrix target, PebbleMatrix source);

extern const char *const vendor_lib_call_names[];
extern int64_t vendor_lib_call_counts[];

static inline PebbleMatrix pebble_matrix(const void *address, int32_t pitch, int32_t rows, int32_t columns,
                                         int32_t dtype) {
    return (PebbleMatrix){(void *)address, pitch, rows, columns, dtype};
}

static inline void pebble_move(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                               int32_t rows, int32_t columns, int32_t dtype, int32_t token) {
    pebble_queue_move(pebble_matrix(target, target_stride, rows, columns, dtype),
                      pebble_matrix(source, source_stride, rows, columns, dtype), token);
}

static inline void pebble_drain(int32_t token, int32_t keep) { pebble_drain_channel(token, keep); }

static inline void pebble_product(void *target, int32_t target_stride, int32_t target_dtype, const void *left,
                                  int32_t left_stride, const void *right, int32_t right_stride, int32_t dtype,
                                  int32_t m, int32_t n, int32_t k, int32_t transposed) {
    int32_t is_flipped = (transposed & 2) != 0;
    PebbleMatrix factor = pebble_matrix(right, right_stride, is_flipped ? n : k, is_flipped ? k : n, dtype);
    pebble_multiply(pebble_matrix(target, target_stride, m, n, target_dtype),
                    pebble_matrix(left, left_stride, m, k, dtype), factor, is_flipped);
}

static inline void pebble_exp(void *target, int32_t target_stride, const void *source, int32_t source_stride,
                              int32_t rows, int32_t columns, int32_t dtype) {
    pebble_powers(pebble_matrix(target, target_stride, rows, columns, dtype),
                  pebble_matrix(source, source_stride, rows, columns, dtype));
}

#endif
