// cholesky(a: *f32, root: *f32) with N=11, THREADS=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void cholesky(device const float* a [[buffer(0)]],
                     device float* root [[buffer(1)]],
                     constant int& a_extent_0 [[buffer(2)]],
                     constant int& a_stride_0 [[buffer(3)]],
                     constant int& a_extent_1 [[buffer(4)]],
                     constant int& a_stride_1 [[buffer(5)]],
                     constant int& a_extent_2 [[buffer(6)]],
                     constant int& a_stride_2 [[buffer(7)]],
                     constant int& root_extent_0 [[buffer(8)]],
                     constant int& root_stride_0 [[buffer(9)]],
                     constant int& root_extent_1 [[buffer(10)]],
                     constant int& root_stride_1 [[buffer(11)]],
                     constant int& root_extent_2 [[buffer(12)]],
                     constant int& root_stride_2 [[buffer(13)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float m[121];
    const int t = int(thread_position.x);

    const int which = int(program.x);                       // +1
    for (int k = t; k < 121; k += 32) {                     // +3
        const int n = k / 11;                               // +4
        const int n_1 = k % 11;
        m[n * 11 + n_1] = a[which * a_stride_0 + n * a_stride_1 + n_1 * a_stride_2];
    }
    for (int column = 0; column < 11; ++column) {           // +5
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +6
        if (t == 0) {                                       // +7
            m[column * 11 + column] = precise::sqrt(m[column * 11 + column]); // +8
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +9
        for (int row = column + 1 + t; row < 11; row += 32) { // +10
            m[row * 11 + column] = m[row * 11 + column] / m[column * 11 + column]; // +11
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +12
        for (int row = column + 1 + t; row < 11; row += 32) { // +13
            for (int k = column + 1; k < row + 1; ++k) {    // +14
                const float x = m[row * 11 + k] - m[row * 11 + column] * m[k * 11 + column]; // +15
                m[row * 11 + k] = x;
            }
        }
    }
    for (int k = t; k < 121; k += 32) {                     // +16
        const int column = k % 11;                          // +17
        const int row = k / 11;
        root[which * root_stride_0 + row * root_stride_1 +  // +18
            column * root_stride_2] = column <= row ? m[row * 11 + column] : 0.0f;
    }
}
