// relu(x: *f32, y: *f32, N: i32) with BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void relu(device const float* x [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 constant int& N [[buffer(2)]],
                 uint3 program [[threadgroup_position_in_grid]],
                 uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 256 + t;              // +1
    if (offs < N) {                                         // +5
        const float v = x[offs];                            // +2
        y[offs] = v < 0.0f ? 0.0f : v;                      // +5
    }
}
