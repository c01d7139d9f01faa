// matmul_tiles(a: *f16, b: *f16, bias: *f32, out: *f32, M: i32, N: i32, K: i32)
// with BM=32, BN=32, BK=16, GROUP=2 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Python's a // b: rounds towards minus infinity; by zero it gives zero.
inline int floor_div(int a, int b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : wrap_neg(a);
    }
    return a / b - int(a % b != 0 && (a < 0) != (b < 0));
}

// Python's a % b: has the sign of b; by zero it gives zero.
inline int floor_mod(int a, int b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
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

kernel void matmul_tiles(device const half* a [[buffer(0)]],
                         device const half* b [[buffer(1)]],
                         device const float* bias [[buffer(2)]],
                         device float* out [[buffer(3)]],
                         constant int& M [[buffer(4)]],
                         constant int& N [[buffer(5)]],
                         constant int& K [[buffer(6)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup half x_tile[2][768];
    threadgroup half y_tile[2][640];
    threadgroup float acc_shared[1024];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[8];                              // +17
    for (int n = 0; n < 8; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int pid = int(program.x);                         // +4
    const int tall_part = floor_div(M, 32);                 // +5
    const int wide_part = floor_div(N, 32);
    const int n_1 = 2 * (wide_part + int(wide_part * 32 != N)); // +6
    const int first = floor_div(pid, n_1) * 2;
    const int rows = min(tall_part + int(tall_part * 32 != M) - first, 2); // +7
    const int n_2 = floor_mod(pid, n_1);                    // +8
    const int column = floor_div(n_2, rows);                // +9
    const int m_base = (first + floor_mod(n_2, rows)) * 32; // +11
    const int column_1 = int(simdgroup) * 16;
    for (long start = 0; start < K; start += 16) {          // +13
        half x[8];
        half y[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            const int m = m_base + e / 16;                  // +11
            const int k = int(start) + e % 16;              // +14
            x[slot] = m < M && k < K ? a[m * K + k] : 0.0h; // +15
            const int k_1 = int(start) + e / 32;            // +14
            const int n = column * 32 + e % 32;             // +11
            y[slot] = k_1 < K && n < N ? b[k_1 * N + n] : 0.0h; // +16
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +17
            multiply_32x16x32(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2], column_1);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            x_tile[stage % 2][e / 16 * 24 + e % 16] = x[slot];
            y_tile[stage % 2][e / 32 * 40 + e % 32] = y[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_32x16x32(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2], column_1);
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 256 + column_1 + 8 * j], 32);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 1024; e += 64) {
        const int n = column * 32 + e % 32;                 // +11
        const int m = m_base + e / 32;
        if (m < M && n < N) {                               // +19
            out[m * N + n] = fmax(acc_shared[e] + (n < N ? bias[n] : 0.0f), 0.0f);
        }
    }
}
