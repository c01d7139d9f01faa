// gelu(x: *f32, y: *f32, N: i32) with BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void gelu(device const float* x [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 constant int& N [[buffer(2)]],
                 uint3 program [[threadgroup_position_in_grid]],
                 uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    for (int e = t; e < 512; e += 256) {
        const int offs = int(program.x) * 512 + e;          // +1
        if (offs < N) {                                     // +4
            const float v = x[offs];                        // +2
            y[offs] = 0.5f * v * (1.0f + precise::tanh(0.7978846f * (v + 0.044715f * v * v * v))); // +4
        }
    }
}
