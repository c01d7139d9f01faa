#include <metal_stdlib>
using namespace metal;

inline void split(float x, thread float& whole, thread float* rest) {
    *rest = modf(x, whole);
}

kernel void second_results(device const float* x [[buffer(0)]],
                           device float* out [[buffer(1)]],
                           device int* exponents [[buffer(2)]],
                           uint i [[thread_position_in_grid]]) {
    float cosine, whole, rest;
    const float sine = sincos(x[i], cosine);
    split(x[i], whole, &rest);
    int exponent;
    const float mantissa = frexp(x[i], exponent);
    float2 cosines;
    const float2 sines = sincos(float2(x[i], -x[i]), cosines);
    float4 v;
    v.x = sincos(x[i] * 2, v.y);
    device float* row = out + i * 8;
    row[0] = sine;
    row[1] = cosine;
    row[2] = whole;
    row[3] = rest;
    row[4] = mantissa;
    row[5] = ldexp(mantissa, exponent);
    row[6] = sines.y + cosines.x;
    row[7] = v.x + v.y;
    exponents[i] = exponent + ilogb(x[i]);
}
