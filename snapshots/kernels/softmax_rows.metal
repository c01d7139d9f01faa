// softmax_rows(x: *f32, y: *f32, M: i32, N: i32)
// with ROWS=8, BLOCK=32 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void softmax_rows(device const float* x [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         constant int& M [[buffer(2)]],
                         constant int& N [[buffer(3)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x) * 8 + t / 32;            // +1
    const int col = t % 32;
    const int offs = row * N + col;                         // +4
    const bool inside = row < M && col < N;                 // +3
    const float v = inside ? x[offs] : -INFINITY;           // +5
    const float high = simd_max(fmax(v, -INFINITY));        // +6
    const float powers = precise::exp(v - high);
    const float total = simd_sum(powers);                   // +7
    if (inside) { y[offs] = powers / total; }
}
