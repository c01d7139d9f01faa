// axpy_f16(alpha: f16, x: *f16, y: *f16, N: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void axpy_f16(constant half& alpha [[buffer(0)]],
                     device const half* x [[buffer(1)]],
                     device half* y [[buffer(2)]],
                     constant int& N [[buffer(3)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // +1
    if (offs < N) { y[offs] = alpha * x[offs] + y[offs]; }  // +3
}
