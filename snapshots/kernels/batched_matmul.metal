// batched_matmul(a: *f32, b: *f32, out: *f32) with TILE=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16(thread simdgroup_float8x8* sum,
                              threadgroup const float* left,
                              threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[160 * i + k], 20);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_float8x8 b;
            simdgroup_load(b, &right[k * 20 + 8 * j], 20);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void batched_matmul(device const float* a [[buffer(0)]],
                           device const float* b [[buffer(1)]],
                           device float* out [[buffer(2)]],
                           constant int& a_extent_0 [[buffer(3)]],
                           constant int& a_extent_1 [[buffer(4)]],
                           constant int& a_extent_2 [[buffer(5)]],
                           constant int& b_extent_0 [[buffer(6)]],
                           constant int& b_extent_1 [[buffer(7)]],
                           constant int& b_extent_2 [[buffer(8)]],
                           uint3 program [[threadgroup_position_in_grid]],
                           uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float left_tile[2][320];
    threadgroup float right_tile[2][320];
    threadgroup float acc_shared[256];
    const int t = int(thread_position.x);

    simdgroup_float8x8 acc[4];                              // +9
    for (int n = 0; n < 4; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int z = int(program.z);                           // +3
    int x = 0;                                              // +7
    int y = 0;
    for (long n = 0; n < a_extent_2; n += 16) {
        float left[8];
        float right[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int i = e / 16;
            const int n_1 = i + int(program.x) * 16;        // +8
            const int j = e % 16;
            left[slot] = n_1 < a_extent_1 && j + x >= 0 && j + x < a_extent_2
                ? a[z * a_extent_1 * a_extent_2 + (n_1 * a_extent_2 + (j + x))] : 0.0f;
            const int n_2 = j + int(program.y) * 16;
            right[slot] = i + y >= 0 && i + y < a_extent_2 && n_2 < b_extent_2
                ? b[z * a_extent_2 * b_extent_2 + ((i + y) * b_extent_2 + n_2)] : 0.0f;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +9
            multiply_16x16x16(acc, left_tile[(stage - 1) % 2], right_tile[(stage - 1) % 2]);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int place = e / 16 * 20 + e % 16;
            left_tile[stage % 2][place] = left[slot];
            right_tile[stage % 2][place] = right[slot];
        }
        stage += 1;
        x += 16;                                            // +10
        y += 16;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {                                        // +9
        multiply_16x16x16(acc, left_tile[(stage - 1) % 2], right_tile[(stage - 1) % 2]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 256; e += 32) {
        const int n = e / 16 + int(program.x) * 16;         // +8
        const int n_1 = e % 16 + int(program.y) * 16;
        if (n < a_extent_1 && n_1 < b_extent_2) {           // +13
            out[z * a_extent_1 * b_extent_2 + (n * b_extent_2 + n_1)] = acc_shared[e];
        }
    }
}
