// mma_tiles(a: *f32, b: *f32, out: *f32, K: i32, N: i32)
// with THREADS=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// a * b + c of 8x8 matrices, of which each lane has two elements.
inline float2 mma(float2 a, float2 b, float2 c) {
    simdgroup_float8x8 left, right, sum;
    left.thread_elements() = a;
    right.thread_elements() = b;
    sum.thread_elements() = c;
    simdgroup_multiply_accumulate(sum, left, right, sum);
    return sum.thread_elements();
}

kernel void mma_tiles(device const float* a [[buffer(0)]],
                      device const float* b [[buffer(1)]],
                      device float* out [[buffer(2)]],
                      constant int& K [[buffer(3)]],
                      constant int& N [[buffer(4)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    const int row = int(program.x) * 8;                     // +2
    const int n = int(lane) / 4;                            // +6
    const int n_1 = (n & 4) + int(lane) / 2 % 4;
    const int base = (n & 2) * 2 + int(lane) % 2 * 2;
    const int column = (int(program.y) * 2 + int(simdgroup)) * 8; // +3
    float acc = 0.0f;                                       // +5
    float acc_1 = 0.0f;
    for (long k = 0; k < K; k += 8) {
        const int offset = n_1 * K + base + (row * K + int(k)); // +6
        const int offset_1 = n_1 * N + base + (int(k) * N + column);
        const float2 product = mma(float2(a[offset], a[offset + 1]),
            float2(b[offset_1], b[offset_1 + 1]), float2(acc, acc_1));
        acc = product.x;
        acc_1 = product.y;
    }
    const int offset = n_1 * N + base + (row * N + column); // +7
    out[offset] = acc;
    out[offset + 1] = acc_1;
}
