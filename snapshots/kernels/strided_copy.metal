// strided_copy(source: *f32, target: *f32) with BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

kernel void strided_copy(device const float* source [[buffer(0)]],
                         device float* target [[buffer(1)]],
                         constant int& source_extent_0 [[buffer(2)]],
                         constant int& source_stride_0 [[buffer(3)]],
                         constant int& target_extent_0 [[buffer(4)]],
                         constant int& target_stride_0 [[buffer(5)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 32 + t;                  // +1
    if (i < source_extent_0) {                              // +2
        target[i * target_stride_0] = source[i * source_stride_0]; // +3
        target[i * target_stride_0] = target[i * target_stride_0] + // +4
            source[wrap_index(-1, source_extent_0) * source_stride_0];
    }
}
