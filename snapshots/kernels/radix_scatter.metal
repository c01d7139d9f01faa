// radix_scatter(keys: *u32, values: *i32, starts: *i32, out_keys: *u32, out_values: *i32, n: i32, shift: i32)
// with THREADS=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

kernel void radix_scatter(device const uint* keys [[buffer(0)]],
                          device const int* values [[buffer(1)]],
                          device const int* starts [[buffer(2)]],
                          device uint* out_keys [[buffer(3)]],
                          device int* out_values [[buffer(4)]],
                          constant int& n [[buffer(5)]],
                          constant int& shift [[buffer(6)]],
                          constant int& keys_extent_0 [[buffer(7)]],
                          constant int& keys_stride_0 [[buffer(8)]],
                          constant int& starts_extent_0 [[buffer(9)]],
                          constant int& starts_stride_0 [[buffer(10)]],
                          constant int& starts_extent_1 [[buffer(11)]],
                          constant int& starts_stride_1 [[buffer(12)]],
                          constant int& values_extent_0 [[buffer(13)]],
                          constant int& values_stride_0 [[buffer(14)]],
                          constant int& out_keys_extent_0 [[buffer(15)]],
                          constant int& out_keys_stride_0 [[buffer(16)]],
                          constant int& out_values_extent_0 [[buffer(17)]],
                          constant int& out_values_stride_0 [[buffer(18)]],
                          uint3 group [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int digits[64];
    const int t = int(thread_position.x);

    const int program = int(group.x);                       // +2
    const int i = program * 64 + t;                         // +4
    int n_1;                                                // +5
    if (i < n) {
        n_1 = int((keys[i * keys_stride_0] >> uint(shift)) & 15u);
    } else {
        n_1 = -1;
    }
    digits[t] = n_1;
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +6
    if (i < n) {                                            // +7
        int rank = 0;                                       // +10
        for (int other = 0; other < t; ++other) {
            rank = digits[other] == digits[t] ? rank + 1 : rank; // +11
        }
        const int place = starts[wrap_index(digits[t], starts_extent_0) * starts_stride_0 + // +13
            program * starts_stride_1] + rank;
        out_keys[wrap_index(place, out_keys_extent_0) * out_keys_stride_0] = keys[i * // +14
            keys_stride_0];
        out_values[wrap_index(place, out_values_extent_0) * out_values_stride_0] = values[i *
            values_stride_0];
    }
}
