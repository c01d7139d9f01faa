// relu(x: *f32, y: *f32, N: i32) with BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void relu(device const float* x [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 constant int& N [[buffer(2)]],
                 uint3 program [[threadgroup_position_in_grid]],
                 uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 256 + t;              // relu.py:12
    if (offs < N) {                                         // relu.py:16
        const float v = x[offs];                            // relu.py:13
        y[offs] = v < 0.0f ? 0.0f : v;                      // relu.py:16
    }
}
