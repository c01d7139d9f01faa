#include <metal_stdlib>
using namespace metal;

#define EPSILON 1e-3h

// Literals without a suffix are floats.
kernel void literals(device const float* x [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     device half* h [[buffer(2)]],
                     device bfloat* b [[buffer(3)]],
                     uint i [[thread_position_in_grid]]) {
    const float v = x[i];
    float sum = v * 0.1 + 1.0 / 3.0;
    sum = sum - .3 * 2.;
    y[i] = max(sum, 0.0) + pow(v, 2.0) * 1e-2 + fmod(v, 1) + (v > 0.7 ? 0.7 : 1.3);
    h[i] = half(v) * 0.1h + EPSILON;
    b[i] = bfloat(v) + 1.5bf;
    static_assert(sizeof(0.5) == 4, "a float");
    static_assert(sizeof(0.5h) == 2, "a half");
}
