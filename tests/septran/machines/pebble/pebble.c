/* A functional model of the accelerator of pebble.h. */
#include "pebble.h"
#include "septran_elements.h"

enum { MOVE, DRAIN, MULTIPLY, POWERS, CALLS };
const char *const vendor_lib_call_names[] = {"pebble_queue_move", "pebble_drain_channel", "pebble_multiply",
                                             "pebble_powers", 0};
int64_t vendor_lib_call_counts[CALLS];

enum { CHANNELS = 16, LENGTH = 128, SIDE = 8 };
typedef struct {
    PebbleMatrix target, source;
} Move;
static Move moves[CHANNELS][LENGTH];
static int32_t heads[CHANNELS], lengths[CHANNELS];

static int32_t bytes_of(int32_t dtype) {
    static const int32_t bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    return bytes[dtype];
}

static char *at(PebbleMatrix matrix, int32_t row, int32_t column) {
    return (char *)matrix.address + ((int64_t)row * matrix.pitch + column) * bytes_of(matrix.dtype);
}

static float get(PebbleMatrix matrix, int32_t row, int32_t column) {
    const void *from = at(matrix, row, column);
    return matrix.dtype == SEPTRAN_F16 ? septran_from_f16(*(const uint16_t *)from) : *(const float *)from;
}

static void put(PebbleMatrix matrix, int32_t row, int32_t column, float value) {
    void *to = at(matrix, row, column);
    if (matrix.dtype == SEPTRAN_F16)
        *(uint16_t *)to = septran_to_f16(value);
    else
        *(float *)to = value;
}

static void run_oldest(int32_t channel) {
    Move *move = &moves[channel][heads[channel]];
    for (int32_t row = 0; row < move->target.rows; ++row)
        __builtin_memcpy(at(move->target, row, 0), at(move->source, row, 0),
                         (int64_t)move->target.columns * bytes_of(move->target.dtype));
    heads[channel] = (heads[channel] + 1) % LENGTH;
    lengths[channel] -= 1;
}

void pebble_queue_move(PebbleMatrix target, PebbleMatrix source, int32_t channel) {
    vendor_lib_call_counts[MOVE] += 1;
    if (lengths[channel] == LENGTH)
        run_oldest(channel);
    moves[channel][(heads[channel] + lengths[channel]) % LENGTH] = (Move){target, source};
    lengths[channel] += 1;
}

void pebble_drain_channel(int32_t channel, int32_t left) {
    vendor_lib_call_counts[DRAIN] += 1;
    while (lengths[channel] > left)
        run_oldest(channel);
}

static void multiply_block(PebbleMatrix target, PebbleMatrix left, PebbleMatrix right, int32_t is_flipped,
                           int32_t i, int32_t j, int32_t p) {
    for (int32_t row = i; row < i + SIDE; ++row)
        for (int32_t column = j; column < j + SIDE; ++column) {
            float sum = get(target, row, column);
            for (int32_t step = p; step < p + SIDE; ++step)
                sum += get(left, row, step) * (is_flipped ? get(right, column, step) : get(right, step, column));
            put(target, row, column, sum);
        }
}

void pebble_multiply(PebbleMatrix target, PebbleMatrix left, PebbleMatrix right, int32_t is_flipped) {
    vendor_lib_call_counts[MULTIPLY] += 1;
    if (target.rows % SIDE || target.columns % SIDE || left.columns % SIDE)
        __builtin_trap();
    for (int32_t i = 0; i < target.rows; i += SIDE)
        for (int32_t j = 0; j < target.columns; j += SIDE)
            for (int32_t p = 0; p < left.columns; p += SIDE)
                multiply_block(target, left, right, is_flipped, i, j, p);
}

void pebble_powers(PebbleMatrix target, PebbleMatrix source) {
    vendor_lib_call_counts[POWERS] += 1;
    for (int32_t row = 0; row < target.rows; ++row)
        for (int32_t column = 0; column < target.columns; ++column)
            put(target, row, column, __builtin_expf(get(source, row, column)));
}
