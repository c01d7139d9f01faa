// divide_by_constant(x: *u32, y: *u32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void divide_by_constant(device const uint* x [[buffer(0)]],
                               device uint* y [[buffer(1)]],
                               constant int& N [[buffer(2)]],
                               uint3 program [[threadgroup_position_in_grid]],
                               uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 64 + t;                  // +1
    if (i < N) {                                            // +4
        const uint v = x[i];                                // +2
        const uint high = mulhi(v, 613566757u);             // +3
        y[i] = (((v - high) >> 1u) + high) >> 2u;           // +4
    }
}
