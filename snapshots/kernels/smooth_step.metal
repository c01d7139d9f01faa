// smooth_step(x: *f32, y: *f32, N: i32) with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void smooth_step(device const float* x [[buffer(0)]],
                        device float* y [[buffer(1)]],
                        constant int& N [[buffer(2)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int tid = int(thread_position.x);

    const int offs = int(program.x) * 128 + tid;            // +1
    const float v = offs < N ? x[offs] : 0.0f;              // +2
    const float t = (v - 0.0f) / 2.0f;                      // between+1
    float x_1;                                              // smooth+1
    if (t <= 0.0f) {
        x_1 = 0.0f;                                         // smooth+2
    } else {
        x_1 = t >= 1.0f ? 1.0f : t * t * (3.0f - 2.0f * t); // smooth+3
    }
    if (offs < N) {                                         // +3
        const float x_2 = -v - 0.0f;                        // between+1
        y[offs] = x_1 - (x_2 <= 0.0f ? 0.0f : x_2 >= 1.0f ? 1.0f : x_2 * x_2 * (3.0f - 2.0f * x_2)); // +3
    }
}
