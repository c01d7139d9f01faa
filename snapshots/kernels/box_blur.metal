// box_blur(source: *f32, target: *f32) with RADIUS=1, BLOCK=8 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void box_blur(device const float* source [[buffer(0)]],
                     device float* target [[buffer(1)]],
                     constant int& source_extent_0 [[buffer(2)]],
                     constant int& source_extent_1 [[buffer(3)]],
                     constant int& source_stride_0 [[buffer(4)]],
                     constant int& source_stride_1 [[buffer(5)]],
                     constant int& target_extent_0 [[buffer(6)]],
                     constant int& target_stride_0 [[buffer(7)]],
                     constant int& target_extent_1 [[buffer(8)]],
                     constant int& target_stride_1 [[buffer(9)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    if (t < 8) {
        const int col = int(program.y) * 8 + t;             // +3
        if (col < source_extent_1) {                        // +4
            const int row = int(program.x);                 // +2
            const int n = wrap_add(col + 1, 1);             // +8
            float total = 0.0f;                             // +7
            int count = 0;
            for (int i = row - 1; i < row + 1 + 1; ++i) {
                for (int j = col - 1; j < n; ++j) {         // +8
                    if (0 <= i && i < source_extent_0 && 0 <= j && j < source_extent_1) { // +9
                        total += source[i * source_stride_0 + j * source_stride_1]; // +10
                        count = wrap_add(count, 1);         // +11
                    }
                }
            }
            target[row * target_stride_0 + col * target_stride_1] = total / float(count); // +12
        }
    }
}
