/* A functional model of Gemmini: commands run in order, as late as they may. */
#include "gemmini.h"

enum { CONFIG, MVIN, MVOUT, PRELOAD, COMPUTE_PRELOADED, COMPUTE_ACCUMULATED, FENCE, CALLS };
const char *const vendor_lib_call_names[] = {
    "gemmini_config", "gemmini_mvin", "gemmini_mvout", "gemmini_preload", "gemmini_compute_preloaded",
    "gemmini_compute_accumulated", "gemmini_fence", 0
};
int64_t vendor_lib_call_counts[CALLS];

enum Kind { CONFIG_LD, CONFIG_ST, CONFIG_EX, MOVE_IN, MOVE_OUT, PRELOAD_B, COMPUTE };
typedef struct {
    enum Kind kind;
    char *dram;
    int64_t stride;
    uint32_t local, sums;
    int32_t cols, rows, sum_cols, sum_rows, is_new;
} Command;

enum { LENGTH = 1024 };
static Command queue[LENGTH];
static int32_t length;

static float spad[GEMMINI_SPAD_ROWS][DIM], sums[GEMMINI_ACC_ROWS][DIM];
static int64_t load_stride, store_stride;
static int32_t is_left_transposed, is_right_transposed;

/* What the array holds: the right factor that computes, the one that was preloaded, where sums go. */
static float weights[DIM][DIM], next_weights[DIM][DIM];
static uint32_t sums_at;
static int32_t sum_cols, sum_rows;

static float *row_at(uint32_t local) {
    uint32_t row = local & ~(GEMMINI_ACCUMULATOR | GEMMINI_ACCUMULATE);
    uint32_t rows = local & GEMMINI_ACCUMULATOR ? GEMMINI_ACC_ROWS : GEMMINI_SPAD_ROWS;
    if (row >= rows)
        __builtin_trap();
    return local & GEMMINI_ACCUMULATOR ? sums[row] : spad[row];
}

static void move_in(const Command *command) {
    for (int32_t i = 0; i < command->rows; ++i)
        for (int32_t j = 0; j < command->cols; ++j) {
            const float *from = (const float *)(command->dram + i * load_stride);
            float value = command->dram ? from[j] : 0.0f, *to = row_at(command->local + i) + j;
            *to = command->local & GEMMINI_ACCUMULATE ? *to + value : value;
        }
}

static void move_out(const Command *command) {
    for (int32_t i = 0; i < command->rows; ++i)
        for (int32_t j = 0; j < command->cols; ++j)
            ((float *)(command->dram + i * store_stride))[j] = row_at(command->local + i)[j];
}

static void preload(const Command *command) {
    sums_at = command->sums, sum_cols = command->sum_cols, sum_rows = command->sum_rows;
    if (command->local == GARBAGE_ADDR)
        return;
    for (int32_t i = 0; i < DIM; ++i)
        for (int32_t j = 0; j < DIM; ++j) {
            int32_t is_there = i < command->rows && j < command->cols;
            float value = is_there ? row_at(command->local + i)[j] : 0.0f;
            next_weights[is_right_transposed ? j : i][is_right_transposed ? i : j] = value;
        }
}

static void compute(const Command *command) {
    if (command->is_new)
        __builtin_memcpy(weights, next_weights, sizeof weights);
    for (int32_t i = 0; i < sum_rows; ++i) {
        float *to = row_at(sums_at + i);
        for (int32_t j = 0; j < sum_cols; ++j) {
            float sum = sums_at & GEMMINI_ACCUMULATE ? to[j] : 0.0f;
            int32_t depth = is_left_transposed ? command->rows : command->cols;
            for (int32_t p = 0; p < depth; ++p) {
                int32_t row = is_left_transposed ? p : i, col = is_left_transposed ? i : p;
                int32_t is_there = row < command->rows && col < command->cols;
                sum += (is_there ? row_at(command->local + row)[col] : 0.0f) * weights[p][j];
            }
            to[j] = sum;
        }
    }
}

static void run(const Command *command) {
    switch (command->kind) {
    case CONFIG_LD: load_stride = command->stride; break;
    case CONFIG_ST: store_stride = command->stride; break;
    case CONFIG_EX: is_left_transposed = command->rows, is_right_transposed = command->cols; break;
    case MOVE_IN: move_in(command); break;
    case MOVE_OUT: move_out(command); break;
    case PRELOAD_B: preload(command); break;
    case COMPUTE: compute(command); break;
    }
}

static void run_all(void) {
    for (int32_t number = 0; number < length; ++number)
        run(&queue[number]);
    length = 0;
}

static void issue(int32_t counter, Command command) {
    vendor_lib_call_counts[counter] += 1;
    if (length == LENGTH)
        run_all();
    queue[length++] = command;
}

void gemmini_config_ld(int64_t stride) { issue(CONFIG, (Command){.kind = CONFIG_LD, .stride = stride}); }
void gemmini_config_st(int64_t stride) { issue(CONFIG, (Command){.kind = CONFIG_ST, .stride = stride}); }
void gemmini_config_ex(int32_t a_transpose, int32_t b_transpose) {
    issue(CONFIG, (Command){.kind = CONFIG_EX, .rows = a_transpose, .cols = b_transpose});
}

void gemmini_extended_mvin(const void *dram, uint32_t local, int32_t cols, int32_t rows) {
    issue(MVIN, (Command){.kind = MOVE_IN, .dram = (char *)dram, .local = local, .cols = cols, .rows = rows});
}

void gemmini_extended_mvout(void *dram, uint32_t local, int32_t cols, int32_t rows) {
    issue(MVOUT, (Command){.kind = MOVE_OUT, .dram = dram, .local = local, .cols = cols, .rows = rows});
}

void gemmini_extended_preload(uint32_t b, uint32_t c, int32_t b_cols, int32_t b_rows, int32_t c_cols,
                              int32_t c_rows) {
    issue(PRELOAD, (Command){.kind = PRELOAD_B, .local = b, .sums = c, .cols = b_cols, .rows = b_rows,
                             .sum_cols = c_cols, .sum_rows = c_rows});
}

void gemmini_extended_compute_preloaded(uint32_t a, uint32_t d, int32_t a_cols, int32_t a_rows) {
    (void)d;
    issue(COMPUTE_PRELOADED,
          (Command){.kind = COMPUTE, .local = a, .cols = a_cols, .rows = a_rows, .is_new = 1});
}

void gemmini_extended_compute_accumulated(uint32_t a, uint32_t d, int32_t a_cols, int32_t a_rows) {
    (void)d;
    issue(COMPUTE_ACCUMULATED, (Command){.kind = COMPUTE, .local = a, .cols = a_cols, .rows = a_rows});
}

void gemmini_fence(void) {
    vendor_lib_call_counts[FENCE] += 1;
    run_all();
}
