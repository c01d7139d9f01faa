"""Functions that Metal lacks, as MSL text; those of floats take and return `float`.

The section "Math Functions" of the Metal Shading Language Specification lists what there is: `erf`,
`expm1` and `log1p` are missing. `precise::` selects the accurate variant of a function.
"""

from __future__ import annotations

# Two polynomials, fitted at Chebyshev nodes; the error is at most one unit in the last place.
_ERF = """
// The error function, which Metal lacks.
inline float erf_of(float x) {
    const float a = fmin(fabs(x), 4.0f);
    if (a < 1.0f) {
        const float s = x * x;
        float r = fma(7.8824975e-5f, s, -8.018855e-4f);
        r = fma(r, s, 0.005189312f);
        r = fma(r, s, -0.026854329f);
        r = fma(r, s, 0.11283597f);
        r = fma(r, s, -0.37612626f);
        r = fma(r, s, 0.12837917f);
        return fma(r, x, x);
    }
    float r = fma(2.01601e-5f, a, -4.2231288e-4f);
    r = fma(r, a, 0.0041054357f);
    r = fma(r, a, -0.024928147f);
    r = fma(r, a, 0.10795473f);
    r = fma(r, a, 0.6336703f);
    r = fma(r, a, 1.1293408f);
    r = fma(r, a, -1.3541023e-4f);
    return isnan(x) ? x : copysign(1.0f - precise::exp(-r), x);
}
"""

# exp(x) = 2^n exp(r) with a small r. Its Taylor series is cut below the last place.
_EXPM1 = """
// exp(x) - 1, accurate for small x too.
inline float expm1_of(float x) {
    if (!(fabs(x) > 1e-8f && x < 17.0f)) {
        return x > 1.0f ? precise::exp(x) : x;
    }
    const float n = rint(fmax(x, -18.0f) * 1.442695f);
    const float r = fma(n, -0.0017409306f, fma(n, -0.69140625f, fmax(x, -18.0f)));
    float p = fma(2.4801587e-5f, r, 1.984127e-4f);
    p = fma(p, r, 0.0013888889f);
    p = fma(p, r, 0.008333334f);
    p = fma(p, r, 0.041666668f);
    p = fma(p, r, 0.16666667f);
    p = fma(p, r, 0.5f);
    p = fma(p * r, r, r);
    const float half_power = ldexp(1.0f, int(n) - 1);
    return 2.0f * fma(half_power, p, half_power - 0.5f);
}
"""

# Of the two forms, the one whose exponential does not overflow. The rounding error of
# `1 + exponential` is corrected.
_SIGMOID = """
// 1 / (1 + exp(-x)), without an intermediate overflow.
inline float sigmoid_of(float x) {
    const float exponential = precise::exp(-fabs(x));
    const float denominator = 1.0f + exponential;
    const float error = exponential - (denominator - 1.0f);
    const float quotient = (x < 0.0f ? exponential : 1.0f) / denominator;
    return fma(-quotient, error / denominator, quotient);
}
"""

# The rounding error of `1 + x` is corrected by the first derivative of the logarithm.
_LOG1P = """
// log(1 + x), accurate for small x too.
inline float log1p_of(float x) {
    const float u = 1.0f + x;
    if (u == 1.0f) {
        return x;
    }
    const float error = x - (u - 1.0f);
    return u > 0.0f && u < INFINITY ? precise::log(u) + error / u : precise::log(u);
}
"""

# Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011): ten rounds on four words.
_PHILOX = """
// Philox 4x32-10: four random words for each counter and key.
inline uint4 philox(uint4 counter, uint2 key) {
    for (int i = 0; i < 10; ++i) {
        const uint high0 = mulhi(counter.x, 0xD2511F53u);
        const uint high1 = mulhi(counter.z, 0xCD9E8D57u);
        counter = uint4(high1 ^ counter.y ^ key.x, counter.z * 0xCD9E8D57u,
                        high0 ^ counter.w ^ key.y, counter.x * 0xD2511F53u);
        key += uint2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}
"""

# Metal Shading Language Specification, "SIMD-group Matrix Functions". The specification does not
# document `thread_elements()` and leaves open which elements a lane has.
_MMA = """
// a * b + c of 8x8 matrices, of which each lane has two elements.
inline float2 mma(float2 a, float2 b, float2 c) {
    simdgroup_float8x8 left, right, sum;
    left.thread_elements() = a;
    right.thread_elements() = b;
    sum.thread_elements() = c;
    simdgroup_multiply_accumulate(sum, left, right, sum);
    return sum.thread_elements();
}
"""

# The sign of the rounding error says in which direction to round. A scaled product stays finite
# where the sum is finite.
_ODD_FMA = """
// a * b + c of numbers that were bfloat, rounded to odd: it can be rounded again.
inline float odd_fma(float a, float b, float c) {
    const float scale = fabs(a * b) < INFINITY ? 1.0f : 0.25f;
    a *= scale;
    c *= scale;
    const float product = a * b;
    const float sum = fma(a, b, c);
    const float part = sum - product;
    const float error = (product - (sum - part)) + (c - part);
    const uint bits = as_type<uint>(sum);
    const bool moves = (bits & 1) == 0 && (error < 0 || error > 0);
    const uint other = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    return (moves ? as_type<float>(other) : sum) / scale;
}
"""

FUNCTIONS: dict[str, str] = {
    "erf_of": _ERF,
    "expm1_of": _EXPM1,
    "philox": _PHILOX,
    "mma": _MMA,
    "log1p_of": _LOG1P,
    "sigmoid_of": _SIGMOID,
    "odd_fma": _ODD_FMA,
}
