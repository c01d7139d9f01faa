// sparse_matmul(a: *f32, kinds: *i32, b: *f32, out: *f32, M: i32, N: i32, K: i32)
// with BM=16, BN=16, BK=8 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

// Adds the product of a 16x8 and a 8x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x8x16(thread simdgroup_float8x8* sum,
                             threadgroup const float* left,
                             threadgroup const float* right) {
    simdgroup_float8x8 a[2];
    for (int i = 0; i < 2; ++i) {
        simdgroup_load(a[i], &left[96 * i], 12);
    }
    for (int j = 0; j < 2; ++j) {
        simdgroup_float8x8 b;
        simdgroup_load(b, &right[8 * j], 20);
        for (int i = 0; i < 2; ++i) {
            simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
        }
    }
}

kernel void sparse_matmul(device const float* a [[buffer(0)]],
                          device const int* kinds [[buffer(1)]],
                          device const float* b [[buffer(2)]],
                          device float* out [[buffer(3)]],
                          constant int& M [[buffer(4)]],
                          constant int& N [[buffer(5)]],
                          constant int& K [[buffer(6)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float x_tile[2][192];
    threadgroup float y_tile[2][160];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +18
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    int step_ = 0;                                          // +8
    while (wrap_mul(step_, 8) < K) {
        const int kind = kinds[step_];                      // +9
        const int step_1 = wrap_add(step_, 1);              // +11
        if (kind == 0) {                                    // +12
            step_ = step_1;                                 // +13
            continue;
        }
        if (kind == -1) { break; }                          // +14
        float x[4];
        float y[4];
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            const int m = int(program.x) * 16 + e / 8;      // +4
            const int k = step_ * 8 + e % 8;                // +10
            x[slot] = m < M && k < K ? a[m * K + k] : 0.0f; // +16
            const int k_1 = step_ * 8 + e / 16;             // +10
            const int n = int(program.y) * 16 + e % 16;     // +5
            y[slot] = k_1 < K && n < N ? b[k_1 * N + n] : 0.0f; // +17
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +18
            multiply_16x8x16(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            x_tile[stage % 2][e / 8 * 12 + e % 8] = x[slot];
            y_tile[stage % 2][e / 16 * 20 + e % 16] = y[slot];
        }
        stage += 1;
        step_ = step_1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_16x8x16(acc, x_tile[(stage - 1) % 2], y_tile[(stage - 1) % 2]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int m = int(program.x) * 16 + e / 16;         // +4
        const int n = int(program.y) * 16 + e % 16;         // +5
        if (m < M && n < N) { out[m * N + n] = acc_shared[e]; } // +19
    }
}
