// conv2d(x: *f32, w: *f32, y: *f32)
// with PIXELS=32, OUT=16, IN=8 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Rounds towards zero; by zero it gives zero.
inline int trunc_div(int a, int b) {
    return b == 0 ? 0 : b == -1 ? wrap_neg(a) : a / b;
}

// The remainder has the sign of a; by zero it is zero.
inline int trunc_mod(int a, int b) {
    return b == 0 || b == -1 ? 0 : a % b;
}

// Adds the product of a 32x8 and a 8x16 tile to a simdgroup's 4x2 fragments.
inline void multiply_32x8x16(thread simdgroup_float8x8* sum,
                             threadgroup const float* left,
                             threadgroup const float* right) {
    simdgroup_float8x8 a[4];
    for (int i = 0; i < 4; ++i) {
        simdgroup_load(a[i], &left[96 * i], 12);
    }
    for (int j = 0; j < 2; ++j) {
        simdgroup_float8x8 b;
        simdgroup_load(b, &right[8 * j], 20);
        for (int i = 0; i < 4; ++i) {
            simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
        }
    }
}

kernel void conv2d(device const float* x [[buffer(0)]],
                   device const float* w [[buffer(1)]],
                   device float* y [[buffer(2)]],
                   constant int& x_extent_0 [[buffer(3)]],
                   constant int& x_extent_1 [[buffer(4)]],
                   constant int& x_extent_2 [[buffer(5)]],
                   uint3 program [[threadgroup_position_in_grid]],
                   uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup bool inside_shared[32];
    threadgroup int block_shared[32];
    threadgroup float patch_tile[384];
    threadgroup float w_tile[160];
    threadgroup bool inside_shared_1[32];
    threadgroup int block_shared_1[32];
    threadgroup float patch_tile_1[384];
    threadgroup float w_tile_1[160];
    threadgroup bool inside_shared_2[32];
    threadgroup int block_shared_2[32];
    threadgroup bool inside_shared_3[32];
    threadgroup int block_shared_3[32];
    threadgroup bool inside_shared_4[32];
    threadgroup int block_shared_4[32];
    threadgroup bool inside_shared_5[32];
    threadgroup int block_shared_5[32];
    threadgroup bool inside_shared_6[32];
    threadgroup int block_shared_6[32];
    threadgroup bool inside_shared_7[32];
    threadgroup int block_shared_7[32];
    threadgroup bool inside_shared_8[32];
    threadgroup int block_shared_8[32];
    threadgroup float acc_shared[512];
    const int t = int(thread_position.x);

    const int pixel = int(program.x) * 32 + t;              // +2
    const int row = trunc_div(pixel, x_extent_1);           // +3
    const int r = row - 1;                                  // +7
    const bool inside_part = r >= 0 && r < x_extent_0;      // +8
    const int column = trunc_mod(pixel, x_extent_1);        // +3
    const int s = column - 1;                               // +7
    inside_shared[t] = inside_part && s >= 0 && s < x_extent_1; // +8
    block_shared[t] = (r * x_extent_1 + s) * 8;             // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch[slot] = inside_shared[i] ? x[block_shared[i] + e % 8] : 0.0f;
    }
    simdgroup_float8x8 acc[8];                              // +10
    for (int n = 0; n < 8; ++n) {
        acc[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    float w_value[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value[slot] = w[e];
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile[e / 8 * 12 + e % 8] = patch[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile[e / 16 * 20 + e % 16] = w_value[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile, w_tile);
    inside_shared_1[t] = inside_part && column >= 0 && column < x_extent_1; // +8
    block_shared_1[t] = (r * x_extent_1 + column) * 8;      // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_1[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_1[slot] = inside_shared_1[i] ? x[block_shared_1[i] + e % 8] : 0.0f;
    }
    float w_value_1[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_1[slot] = w[e + 128];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile_1[e / 8 * 12 + e % 8] = patch_1[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile_1[e / 16 * 20 + e % 16] = w_value_1[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile_1, w_tile_1);
    const int s_1 = column + 1;                             // +7
    inside_shared_2[t] = inside_part && s_1 >= 0 && s_1 < x_extent_1; // +8
    block_shared_2[t] = (r * x_extent_1 + s_1) * 8;         // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_2[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_2[slot] = inside_shared_2[i] ? x[block_shared_2[i] + e % 8] : 0.0f;
    }
    float w_value_2[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_2[slot] = w[e + 256];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile[e / 8 * 12 + e % 8] = patch_2[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile[e / 16 * 20 + e % 16] = w_value_2[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile, w_tile);
    const bool inside_part_1 = row >= 0 && row < x_extent_0; // +8
    inside_shared_3[t] = inside_part_1 && s >= 0 && s < x_extent_1;
    block_shared_3[t] = (row * x_extent_1 + s) * 8;         // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_3[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_3[slot] = inside_shared_3[i] ? x[block_shared_3[i] + e % 8] : 0.0f;
    }
    float w_value_3[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_3[slot] = w[e + 384];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile_1[e / 8 * 12 + e % 8] = patch_3[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile_1[e / 16 * 20 + e % 16] = w_value_3[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile_1, w_tile_1);
    inside_shared_4[t] = inside_part_1 && column >= 0 && column < x_extent_1; // +8
    block_shared_4[t] = (row * x_extent_1 + column) * 8;    // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_4[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_4[slot] = inside_shared_4[i] ? x[block_shared_4[i] + e % 8] : 0.0f;
    }
    float w_value_4[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_4[slot] = w[e + 512];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile[e / 8 * 12 + e % 8] = patch_4[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile[e / 16 * 20 + e % 16] = w_value_4[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile, w_tile);
    inside_shared_5[t] = inside_part_1 && s_1 >= 0 && s_1 < x_extent_1; // +8
    block_shared_5[t] = (row * x_extent_1 + s_1) * 8;       // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_5[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_5[slot] = inside_shared_5[i] ? x[block_shared_5[i] + e % 8] : 0.0f;
    }
    float w_value_5[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_5[slot] = w[e + 640];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile_1[e / 8 * 12 + e % 8] = patch_5[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile_1[e / 16 * 20 + e % 16] = w_value_5[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile_1, w_tile_1);
    const int r_1 = row + 1;                                // +7
    const bool inside_part_2 = r_1 >= 0 && r_1 < x_extent_0; // +8
    inside_shared_6[t] = inside_part_2 && s >= 0 && s < x_extent_1;
    block_shared_6[t] = (r_1 * x_extent_1 + s) * 8;         // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_6[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_6[slot] = inside_shared_6[i] ? x[block_shared_6[i] + e % 8] : 0.0f;
    }
    float w_value_6[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_6[slot] = w[e + 768];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile[e / 8 * 12 + e % 8] = patch_6[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile[e / 16 * 20 + e % 16] = w_value_6[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile, w_tile);
    inside_shared_7[t] = inside_part_2 && column >= 0 && column < x_extent_1; // +8
    block_shared_7[t] = (r_1 * x_extent_1 + column) * 8;    // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_7[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_7[slot] = inside_shared_7[i] ? x[block_shared_7[i] + e % 8] : 0.0f;
    }
    float w_value_7[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_7[slot] = w[e + 896];                       // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile_1[e / 8 * 12 + e % 8] = patch_7[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile_1[e / 16 * 20 + e % 16] = w_value_7[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile_1, w_tile_1);
    inside_shared_8[t] = inside_part_2 && s_1 >= 0 && s_1 < x_extent_1; // +8
    block_shared_8[t] = (r_1 * x_extent_1 + s_1) * 8;       // +9
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float patch_8[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int i = e / 8;
        patch_8[slot] = inside_shared_8[i] ? x[block_shared_8[i] + e % 8] : 0.0f;
    }
    float w_value_8[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_value_8[slot] = w[e + 1024];                      // +10
    }
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        patch_tile[e / 8 * 12 + e % 8] = patch_8[slot];
    }
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 32 * slot;
        w_tile[e / 16 * 20 + e % 16] = w_value_8[slot];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply_32x8x16(acc, patch_tile, w_tile);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
            simdgroup_store(acc[i * 2 + j], &acc_shared[i * 128 + 8 * j], 16);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int n = wrap_mul(x_extent_0, x_extent_1);         // +11
    for (int e = t; e < 512; e += 32) {
        const int pixel_1 = int(program.x) * 32 + e / 16;   // +2
        if (pixel_1 < n) {                                  // +11
            y[pixel_1 * 16 + e % 16] = acc_shared[e];
        }
    }
}
