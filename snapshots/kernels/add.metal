// add(a: *f32, b: *f32, c: *f32, N: i32) with BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float* a [[buffer(0)]],
                device const float* b [[buffer(1)]],
                device float* c [[buffer(2)]],
                constant int& N [[buffer(3)]],
                uint3 program [[threadgroup_position_in_grid]],
                uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 256 + t;              // +1
    if (offs < N) { c[offs] = a[offs] + b[offs]; }          // +3
}
