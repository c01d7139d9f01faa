// safe_log(x: *f32, y: *f32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void safe_log(device const float* x [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     constant int& N [[buffer(2)]],
                     constant int& x_extent_0 [[buffer(3)]],
                     constant int& x_stride_0 [[buffer(4)]],
                     constant int& y_extent_0 [[buffer(5)]],
                     constant int& y_stride_0 [[buffer(6)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 64 + t;                  // +1
    if (i < N) {                                            // +2
        const float v = x[i * x_stride_0];                  // +4
        if (v <= 0.0f) {                                    // +5
            y[i * y_stride_0] = -1.0f;                      // +6
        } else {
            y[i * y_stride_0] = precise::log(v);            // +8
        }
    }
}
