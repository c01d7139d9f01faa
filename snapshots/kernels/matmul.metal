// matmul(a: *f32, b: *f32, c: *f32, M: i32, N: i32, K: i32)
// with ROWS=16, COLS=8 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void matmul(device const float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   device float* c [[buffer(2)]],
                   constant int& M [[buffer(3)]],
                   constant int& N [[buffer(4)]],
                   constant int& K [[buffer(5)]],
                   uint3 program [[threadgroup_position_in_grid]],
                   uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x) * 16 + t / 8;            // +1
    const int col = int(program.y) * 8 + t % 8;             // +2
    float acc = 0.0f;                                       // +4
    for (int k = 0; k < K; ++k) {
        const float x = row < M ? a[row * K + k] : 0.0f;    // +5
        acc += x * (col < N ? b[k * N + col] : 0.0f);       // +7
    }
    if (row < M && col < N) { c[row * N + col] = acc; }     // +9
}
