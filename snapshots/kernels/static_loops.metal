// static_loops(x: *f32, y: *f32, N: i32)
// with SHIFTS=(1, 3), BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void static_loops(device const float* x [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         constant int& N [[buffer(2)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +16
        const float v = x[offs];                            // +2
        const float polynomial = 0.5f + -1.0f * v + 2.0f * (v * v * v); // +12
        const float polynomial_1 = polynomial + 0.5f * (offs + 1 < N ? x[offs + 1] : 0.0f); // +15
        y[offs] = polynomial_1 + 0.25f * (offs + 3 < N ? x[offs + 3] : 0.0f); // +16
    }
}
