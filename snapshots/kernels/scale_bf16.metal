// scale_bf16(x: *bf16, y: *bf16, factor: f32, N: i32)
// with BLOCK=64 · 64 threads per program · Metal 3.1
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void scale_bf16(device const bfloat* x [[buffer(0)]],
                       device bfloat* y [[buffer(1)]],
                       constant float& factor [[buffer(2)]],
                       constant int& N [[buffer(3)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +3
        y[offs] = bfloat(float(x[offs]) * factor + 1.0f);
    }
}
