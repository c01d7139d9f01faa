// csr_matvec(starts: *i32, columns: *i64, values: *f32, x: *f32, y: *f32, N: i32)
// with BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

// Python's index: a negative one counts from the end.
inline long wrap_index(long a, long extent) {
    return a < 0 ? a + extent : a;
}

kernel void csr_matvec(device const int* starts [[buffer(0)]],
                       device const long* columns [[buffer(1)]],
                       device const float* values [[buffer(2)]],
                       device const float* x [[buffer(3)]],
                       device float* y [[buffer(4)]],
                       constant int& N [[buffer(5)]],
                       constant int& starts_extent_0 [[buffer(6)]],
                       constant int& starts_stride_0 [[buffer(7)]],
                       constant int& values_extent_0 [[buffer(8)]],
                       constant int& values_stride_0 [[buffer(9)]],
                       constant int& columns_extent_0 [[buffer(10)]],
                       constant int& columns_stride_0 [[buffer(11)]],
                       constant int& x_extent_0 [[buffer(12)]],
                       constant int& x_stride_0 [[buffer(13)]],
                       constant int& y_extent_0 [[buffer(14)]],
                       constant int& y_stride_0 [[buffer(15)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x) * 32 + t;                // +1
    if (row < N) {                                          // +2
        const int starts_value = starts[row * starts_stride_0]; // +4
        const int starts_value_1 = starts[(row + 1) * starts_stride_0];
        float total = 0.0f;
        for (int k = starts_value; k < starts_value_1; ++k) {
            const float total_part = values[wrap_index(k, values_extent_0) * values_stride_0] * // +5
                x[wrap_index(columns[wrap_index(k, columns_extent_0) * columns_stride_0],
                long(x_extent_0)) * long(x_stride_0)];
            total += total_part;
        }
        y[row * y_stride_0] = total;                        // +6
    }
}
