// elu(x: *f32, y: *f32, N: i32) with ALPHA=1.0, BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

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

kernel void elu(device const float* x [[buffer(0)]],
                device float* y [[buffer(1)]],
                constant int& N [[buffer(2)]],
                uint3 program [[threadgroup_position_in_grid]],
                uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // +1
    if (offs < N) {                                         // +3
        const float v = x[offs];                            // +2
        y[offs] = v > 0.0f ? v : expm1_of(v);               // +3
    }
}
