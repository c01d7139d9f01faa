/* Element-wise functions for C and OpenCL C that is printed from the flat IR.
 *
 * Numbers of 16 bits are stored as uint16_t, computed in float and rounded after each operation. No header
 * of a C library is used but <stdint.h>, so that a compiler without one will do; functions of libm are
 * linked.
 */
#ifndef SEPTRAN_ELEMENTS_H
#define SEPTRAN_ELEMENTS_H

#ifdef __OPENCL_VERSION__
#include "septran_opencl.h"
#else
#include <stdint.h>
#endif

/* The numbers by which libraries know dtypes. */
enum {
    SEPTRAN_BOOL, SEPTRAN_I8, SEPTRAN_I16, SEPTRAN_I32, SEPTRAN_I64, SEPTRAN_U8, SEPTRAN_U16, SEPTRAN_U32,
    SEPTRAN_U64, SEPTRAN_F16, SEPTRAN_BF16, SEPTRAN_F32, SEPTRAN_F64
};

#ifdef __OPENCL_VERSION__
static inline float septran_float_of(uint32_t bits) { return as_float(bits); }
static inline uint32_t septran_bits_of(float value) { return as_uint(value); }
#else
static inline float septran_float_of(uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t septran_bits_of(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
#endif

/* A double as a float that rounds to the same number of 16 bits: towards zero, and odd if inexact. */
static inline float septran_narrow(double value) {
    float near = (float)value;
    if ((double)near == value || value != value || near - near != 0.0f)
        return near;
    uint32_t bits = septran_bits_of(near);
    double size = value < 0 ? -value : value;
    bits -= (double)septran_float_of(bits & 0x7FFFFFFF) > size;
    return septran_float_of(bits | 1);
}

static inline float septran_from_f16(uint16_t number) {
    const uint32_t shift = (127 - 15) << 23;  /* from one bias of the exponent to the other */
    uint32_t bits = (uint32_t)(number & 0x7FFF) << 13, sign = (uint32_t)(number & 0x8000) << 16;
    if ((number & 0x7C00) == 0x7C00)
        bits += 2 * shift;
    else if ((number & 0x7C00) != 0)
        bits += shift;
    else  /* subnormal: the hardware's subtraction normalizes it */
        bits = septran_bits_of(septran_float_of(bits + shift + (1 << 23)) - septran_float_of(shift + (1 << 23)));
    return septran_float_of(bits | sign);
}

/* Rounds to the nearest, ties to even; NaN stays NaN. */
static inline uint16_t septran_to_f16(float value) {
    uint32_t bits = septran_bits_of(value), sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (bits >= 0x477FF000)  /* 65520, which rounds to infinity */
        return (uint16_t)(sign | 0x7C00);
    if (bits < 0x38800000)  /* subnormal: 0.5 has the unit 2**-24 in the last place */
        return (uint16_t)(sign | (septran_bits_of(septran_float_of(bits) + 0.5f) - septran_bits_of(0.5f)));
    bits += 0xFFF + (bits >> 13 & 1) - ((127 - 15) << 23);
    return (uint16_t)(sign | bits >> 13);
}

static inline float septran_from_bf16(uint16_t bits) { return septran_float_of((uint32_t)bits << 16); }

/* Rounds to the nearest, ties to even; NaN stays NaN. */
static inline uint16_t septran_to_bf16(float value) {
    uint32_t bits = septran_bits_of(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 64);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static inline float septran_round_f16(float value) { return septran_from_f16(septran_to_f16(value)); }
static inline float septran_round_bf16(float value) { return septran_from_bf16(septran_to_bf16(value)); }

/* NaN if either is. */
static inline float septran_max_f32(float a, float b) { return a > b || a != a ? a : b; }
static inline float septran_min_f32(float a, float b) { return a < b || a != a ? a : b; }
static inline double septran_max_f64(double a, double b) { return a > b || a != a ? a : b; }
static inline double septran_min_f64(double a, double b) { return a < b || a != a ? a : b; }
static inline int64_t septran_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t septran_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline uint64_t septran_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t septran_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline int64_t septran_abs_i64(int64_t a) { return a < 0 ? -a : a; }

/* Rounds down, as Python does; the divisor is positive. */
static inline int64_t septran_floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t septran_mod(int64_t a, int64_t b) { return a - septran_floor_div(a, b) * b; }

static inline float septran_rsqrt_f32(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline double septran_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }
static inline float septran_sigmoid_f32(float x) { return 1.0f / (1.0f + __builtin_expf(-x)); }
static inline double septran_sigmoid_f64(double x) { return 1.0 / (1.0 + __builtin_exp(-x)); }
static inline float septran_gelu_f32(float x) {
    return 0.5f * x * (1.0f + __builtin_erff(x * 0.70710678f));
}
static inline double septran_gelu_f64(double x) {
    return 0.5 * x * (1.0 + __builtin_erf(x * 0.7071067811865476));
}

#endif
