/* The calls of Gemmini's public library, for a systolic array of 16 by 16 with elements of f32.
 *
 * A local address is a row of 16 elements. Bit 31 is set for the accumulators, bit 30 if what is written
 * there is added to what they hold. Commands are queued and run in order; GLOBAL memory may be read or
 * written by the core only after a fence.
 */
#ifndef GEMMINI_H
#define GEMMINI_H

#include <stdint.h>

#define DIM 16
#define GARBAGE_ADDR 0xFFFFFFFFu
#define GEMMINI_ACCUMULATOR (1u << 31)
#define GEMMINI_ACCUMULATE (1u << 30)
#define GEMMINI_SPAD_ROWS 4096  /* 256 KiB */
#define GEMMINI_ACC_ROWS 1024   /* 64 KiB */

/* Bytes from one row in GLOBAL memory to the next, for what is moved in or out later. */
void gemmini_config_ld(int64_t stride);
void gemmini_config_st(int64_t stride);
/* Whether the factors of later products are transposed; the right one stays in the array. */
void gemmini_config_ex(int32_t a_transpose, int32_t b_transpose);

/* At most 16 by 16 elements; zeros come from the address 0. */
void gemmini_extended_mvin(const void *dram, uint32_t local, int32_t cols, int32_t rows);
void gemmini_extended_mvout(void *dram, uint32_t local, int32_t cols, int32_t rows);

/* The right factor, or GARBAGE_ADDR to keep it, and where sums go; then the left factor. Elements beyond
 * the rows and columns given count as zeros. */
void gemmini_extended_preload(uint32_t b, uint32_t c, int32_t b_cols, int32_t b_rows, int32_t c_cols,
                              int32_t c_rows);
void gemmini_extended_compute_preloaded(uint32_t a, uint32_t d, int32_t a_cols, int32_t a_rows);
void gemmini_extended_compute_accumulated(uint32_t a, uint32_t d, int32_t a_cols, int32_t a_rows);

void gemmini_fence(void);

/* How often each function was called; the names end with a null. */
extern const char *const vendor_lib_call_names[];
extern int64_t vendor_lib_call_counts[];

#endif
