// softplus(x: *f32, y: *f32, N: i32) with BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// log(1 + x), accurate for small x too.
inline float log1p_of(float x) {
    const float u = 1.0f + x;
    if (u == 1.0f) {
        return x;
    }
    const float error = x - (u - 1.0f);
    return u > 0.0f && u < INFINITY ? precise::log(u) + error / u : precise::log(u);
}

kernel void softplus(device const float* x [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     constant int& N [[buffer(2)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 256 + t;              // +1
    if (offs < N) {                                         // +3
        const float v = x[offs];                            // +2
        y[offs] = fmax(v, 0.0f) + log1p_of(precise::exp(-fabs(v))); // +3
    }
}
