// linear_bf16(x: *bf16, w: *bf16, bias: *f32, out: *f32, M: i32, N: i32, K: i32)
// with BM=64, BN=128, BK=16 · 256 threads per program · Metal 3.1
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// 1 / (1 + exp(-x)), without an intermediate overflow.
inline float sigmoid_of(float x) {
    const float exponential = precise::exp(-fabs(x));
    const float denominator = 1.0f + exponential;
    const float error = exponential - (denominator - 1.0f);
    const float quotient = (x < 0.0f ? exponential : 1.0f) / denominator;
    return fma(-quotient, error / denominator, quotient);
}

// Adds the product of a 64x16 and a 16x128 tile to a simdgroup's 4x4 fragments.
inline void multiply_64x16x128_nt(thread simdgroup_float8x8* sum,
                                  threadgroup const bfloat* left,
                                  threadgroup const bfloat* right,
                                  int row,
                                  int column) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_bfloat8x8 a[4];
        for (int i = 0; i < 4; ++i) {
            simdgroup_load(a[i], &left[(row + 8 * i) * 24 + k], 24);
        }
        for (int j = 0; j < 4; ++j) {
            simdgroup_bfloat8x8 b;
            simdgroup_load(b, &right[(column + 8 * j) * 24 + k], 24, ulong2(0), true);
            for (int i = 0; i < 4; ++i) {
                simdgroup_multiply_accumulate(sum[i * 4 + j], a[i], b, sum[i * 4 + j]);
            }
        }
    }
}

kernel void linear_bf16(device const bfloat* x [[buffer(0)]],
                        device const bfloat* w [[buffer(1)]],
                        device const float* bias [[buffer(2)]],
                        device float* out [[buffer(3)]],
                        constant int& M [[buffer(4)]],
                        constant int& N [[buffer(5)]],
                        constant int& K [[buffer(6)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup bfloat rows_tile[2][1536];
    threadgroup bfloat weights_tile[2][3072];
    threadgroup float acc_strip[2048];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[16];                             // +8
    for (int n = 0; n < 16; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int row = int(simdgroup / 4) * 32;
    const int column = int(simdgroup % 4) * 32;
    for (long start = 0; start < K; start += 16) {          // +4
        bfloat rows[4];
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 256 * slot;
            const int m = int(program.x) * 64 + e / 16;     // +1
            const int k = int(start) + e % 16;              // +5
            rows[slot] = m < M && k < K ? x[m * K + k] : bfloat(0.0f); // +6
        }
        bfloat weights[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 256 * slot;
            const int n = int(program.y) * 128 + e / 16;    // +2
            const int k = int(start) + e % 16;              // +5
            weights[slot] = n < N && k < K ? w[n * K + k] : bfloat(0.0f); // +7
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +8
            multiply_64x16x128_nt(acc, rows_tile[(stage - 1) % 2], weights_tile[(stage - 1) % 2],
                row, column);
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 256 * slot;
            rows_tile[stage % 2][e / 16 * 24 + e % 16] = rows[slot];
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 256 * slot;
            weights_tile[stage % 2][e / 16 * 24 + e % 16] = weights[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_64x16x128_nt(acc, rows_tile[(stage - 1) % 2], weights_tile[(stage - 1) % 2], row,
            column);
    }
    float acc_1[32];
    for (int strip = 0; strip < 4; ++strip) {
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                if ((row + 8 * i) / 16 == strip) {
                    simdgroup_store(acc[i * 4 + j],
                        &acc_strip[(row + 8 * i) % 16 * 128 + column + 8 * j], 128);
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int slot = 0; slot < 8; ++slot) {
            acc_1[strip * 8 + slot] = acc_strip[t + slot * 256];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (int slot = 0; slot < 32; ++slot) {
        const int e = t + 256 * slot;
        const int n = int(program.y) * 128 + e % 128;       // +2
        const int m = int(program.x) * 64 + e / 128;        // +1
        if (m < M && n < N) {                               // +10
            const float y = acc_1[slot] + bias[n];          // +9
            out[m * N + n] = y * sigmoid_of(y);             // +10
        }
    }
}
