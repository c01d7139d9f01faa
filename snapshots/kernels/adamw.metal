// adamw(weights: *bf16, gradient: *bf16, mean: *f32, square: *f32, N: i32, rate: f32, step: i32)
// with RATES=Rates, BLOCK=128 · 128 threads per program · Metal 3.1
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void adamw(device bfloat* weights [[buffer(0)]],
                  device const bfloat* gradient [[buffer(1)]],
                  device float* mean [[buffer(2)]],
                  device float* square [[buffer(3)]],
                  constant int& N [[buffer(4)]],
                  constant float& rate [[buffer(5)]],
                  constant int& step_ [[buffer(6)]],
                  constant int& gradient_extent_0 [[buffer(7)]],
                  constant int& gradient_stride_0 [[buffer(8)]],
                  constant int& mean_extent_0 [[buffer(9)]],
                  constant int& mean_stride_0 [[buffer(10)]],
                  constant int& square_extent_0 [[buffer(11)]],
                  constant int& square_stride_0 [[buffer(12)]],
                  constant int& weights_extent_0 [[buffer(13)]],
                  constant int& weights_stride_0 [[buffer(14)]],
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 128 + t;                 // +3
    if (i < N) {                                            // +4
        const float g = float(gradient[i * gradient_stride_0]); // +6
        const float m = 0.9f * mean[i * mean_stride_0] + 0.1f * g; // +7
        mean[i * mean_stride_0] = m;
        const float s = 0.999f * square[i * square_stride_0] + 0.001f * (g * g); // +8
        square[i * square_stride_0] = s;
        const float w = float(weights[i * weights_stride_0]) * (1.0f - rate * 0.01f); // +10
        const float m_1 = m / (1.0f - precise::pow(0.9f, float(step_))); // +9
        const float s_1 = s / (1.0f - precise::pow(0.999f, float(step_)));
        weights[i * weights_stride_0] = bfloat(w - rate * m_1 / (precise::sqrt(s_1) + 0.00000001f)); // +11
    }
}
