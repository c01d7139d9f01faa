// matmul_u8(a: *u8, b: *i8, bias: *f32, out: *f32, zero: i32, scale: f32)
// with TILE=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

inline int wrap_sub(int a, int b) {
    return as_type<int>(as_type<uint>(a) - as_type<uint>(b));
}

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16(thread simdgroup_float8x8* sum,
                              threadgroup const half* left,
                              threadgroup const half* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_half8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[192 * i + k], 24);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_half8x8 b;
            simdgroup_load(b, &right[k * 24 + 8 * j], 24);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void matmul_u8(device const uchar* a [[buffer(0)]],
                      device const char* b [[buffer(1)]],
                      device const float* bias [[buffer(2)]],
                      device float* out [[buffer(3)]],
                      constant int& zero [[buffer(4)]],
                      constant float& scale [[buffer(5)]],
                      constant int& a_extent_0 [[buffer(6)]],
                      constant int& a_extent_1 [[buffer(7)]],
                      constant int& b_extent_0 [[buffer(8)]],
                      constant int& b_extent_1 [[buffer(9)]],
                      constant int& bias_extent_0 [[buffer(10)]],
                      constant int& bias_stride_0 [[buffer(11)]],
                      constant int& out_extent_0 [[buffer(12)]],
                      constant int& out_stride_0 [[buffer(13)]],
                      constant int& out_extent_1 [[buffer(14)]],
                      constant int& out_stride_1 [[buffer(15)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup half left_tile[384];
    threadgroup half right_tile[384];
    threadgroup float block_shared[256];
    threadgroup int sums_shared[16];
    const int t = int(thread_position.x);

    int products[8];                                        // +5
    for (int slot = 0; slot < 8; ++slot) {
        products[slot] = 0;
    }
    int sums;
    if (t < 16) {
        sums = 0;
    }
    const int n_base = int(program.y) * 16;                 // +3
    for (long start = 0; start < a_extent_1; start += 16) { // +5
        simdgroup_float8x8 sum[4];                          // +9
        for (int n = 0; n < 4; ++n) {
            sum[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        for (int e = t; e < 256; e += 32) {
            const int i = e / 16;
            const int m = int(program.x) * 16 + i;          // +2
            const int j = e % 16;
            const int across = int(start) + j;              // +6
            left_tile[i * 24 + j] = half(m < a_extent_0 && across < a_extent_1 // +9
                ? a[m * a_extent_1 + across] : uchar(0));
            const int down = int(start) + i;                // +6
            const int n = n_base + j;                       // +3
            right_tile[i * 24 + j] = half(down < a_extent_1 && n < b_extent_1 // +9
                ? b[down * b_extent_1 + n] : char(0));
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16(sum, left_tile, right_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum[i * 2 + j], &block_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        int products_1[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            products_1[slot] = wrap_add(int(block_shared[e]), products[slot]);
        }
        int sums_1;
        if (t < 16) {
            int total = 0;                                  // +10
            const int n = n_base + t;                       // +3
            for (int k = 0; k < 16; ++k) {                  // +10
                const int down = int(start) + k;            // +6
                total += int(down < a_extent_1 && n < b_extent_1 ? b[down * b_extent_1 + n] // +10
                    : char(0));
            }
            sums_1 = wrap_add(sums, total);
        }
        for (int slot = 0; slot < 8; ++slot) {
            products[slot] = products_1[slot];
        }
        if (t < 16) {
            sums = sums_1;
        }
    }
    if (t < 16) { sums_shared[t] = sums; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int m = int(program.x) * 16 + e / 16;         // +2
        const int j = e % 16;
        const int n = n_base + j;                           // +3
        if (m < a_extent_0 && n < b_extent_1) {             // +11
            out[m * out_stride_0 + n * out_stride_1] = float(wrap_sub(products[slot], // +13
                wrap_mul(zero, sums_shared[j]))) * scale + bias[n * bias_stride_0];
        }
    }
}
