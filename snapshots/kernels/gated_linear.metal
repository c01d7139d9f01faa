// gated_linear(x: *f16, w: *f16, gate: *f16, bias: *f32, y: *f16, M: i32, N: i32, K: i32)
// with BM=32, BN=32, BK=16 · 64 threads per program · Metal 2.3
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

// Adds the product of a 32x16 and a 16x32 tile to a simdgroup's 4x2 fragments.
inline void multiply_32x16x32(thread simdgroup_float8x8* sum,
                              threadgroup const half* left,
                              threadgroup const half* right,
                              int column) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_half8x8 a[4];
        for (int i = 0; i < 4; ++i) {
            simdgroup_load(a[i], &left[192 * i + k], 24);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_half8x8 b;
            simdgroup_load(b, &right[k * 40 + column + 8 * j], 40);
            for (int i = 0; i < 4; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void gated_linear(device const half* x [[buffer(0)]],
                         device const half* w [[buffer(1)]],
                         device const half* gate [[buffer(2)]],
                         device const float* bias [[buffer(3)]],
                         device half* y [[buffer(4)]],
                         constant int& M [[buffer(5)]],
                         constant int& N [[buffer(6)]],
                         constant int& K [[buffer(7)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup half rows_tile[2][768];
    threadgroup half w_tile[2][640];
    threadgroup half gate_tile[2][640];
    threadgroup float acc_shared[1024];
    threadgroup float gates_shared[1024];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[8];                              // +11
    for (int n = 0; n < 8; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    simdgroup_float8x8 gates[8];                            // +12
    for (int n = 0; n < 8; ++n) {
        gates[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int column = int(simdgroup) * 16;
    for (long start = 0; start < K; start += 16) {          // +7
        half rows[8];
        half w_value[8];
        half gate_value[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            const int m = int(program.x) * 32 + e / 16;     // +4
            const int k = int(start) + e % 16;              // +8
            rows[slot] = m < M && k < K ? x[m * K + k] : 0.0h; // +9
            const int k_1 = int(start) + e / 32;            // +8
            const int n = int(program.y) * 32 + e % 32;     // +5
            const bool inside = k_1 < K && n < N;           // +10
            w_value[slot] = inside ? w[k_1 * N + n] : 0.0h; // +11
            gate_value[slot] = inside ? gate[k_1 * N + n] : 0.0h; // +12
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +11
            multiply_32x16x32(acc, rows_tile[(stage - 1) % 2], w_tile[(stage - 1) % 2], column);
            multiply_32x16x32(gates, rows_tile[(stage - 1) % 2], gate_tile[(stage - 1) % 2], // +12
                column);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            rows_tile[stage % 2][e / 16 * 24 + e % 16] = rows[slot];
            const int place = e / 32 * 40 + e % 32;
            w_tile[stage % 2][place] = w_value[slot];
            gate_tile[stage % 2][place] = gate_value[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {                                        // +11
        multiply_32x16x32(acc, rows_tile[(stage - 1) % 2], w_tile[(stage - 1) % 2], column);
        multiply_32x16x32(gates, rows_tile[(stage - 1) % 2], gate_tile[(stage - 1) % 2], column); // +12
    }
    for (int i = 0; i < 4; ++i) {                           // +11
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 256 + column + 8 * j], 32);
        }
    }
    for (int i = 0; i < 4; ++i) {                           // +12
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(gates[i * 2 + j], &gates_shared[i * 256 + column + 8 * j], 32);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 1024; e += 64) {
        const int n = int(program.y) * 32 + e % 32;         // +5
        const int m = int(program.x) * 32 + e / 32;         // +4
        if (m < M && n < N) {                               // +14
            y[m * N + n] = half((acc_shared[e] + bias[n]) * sigmoid_of(gates_shared[e]));
        }
    }
}
