// saxpy(alpha: f32, x: *f32, y: *f32, N: i32) with BLOCK=100 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void saxpy(constant float& alpha [[buffer(0)]],
                  device const float* x [[buffer(1)]],
                  device float* y [[buffer(2)]],
                  constant int& N [[buffer(3)]],
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    if (t < 100) {
        const int offs = int(program.x) * 100 + t;          // +1
        if (offs < N) { y[offs] = alpha * x[offs] + y[offs]; } // +4
    }
}
