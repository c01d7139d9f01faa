// stencil_3d(x: *f32, y: *f32) with SIZE=4 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void stencil_3d(device const float* x [[buffer(0)]],
                       device float* y [[buffer(1)]],
                       constant int& x_extent_0 [[buffer(2)]],
                       constant int& x_extent_1 [[buffer(3)]],
                       constant int& x_extent_2 [[buffer(4)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 4 + t / 16;              // +2
    const int j = int(program.y) * 4 + t / 4 % 4;           // +3
    const int k = int(program.z) * 4 + t % 4;               // +4
    const bool test = i < x_extent_0 && j < x_extent_1;     // +5
    const bool test_1 = k < x_extent_2;
    if (test && test_1) {                                   // +11
        const int base = (i * x_extent_1 + j) * x_extent_2; // +6
        const int a = i + 1;                                // +8
        const bool is_there = a < x_extent_0 && j < x_extent_1 && test_1; // +9
        const float total = -6.0f * x[base + k] +           // +10
            (is_there ? x[(a * x_extent_1 + j) * x_extent_2 + k] : 0.0f);
        const int a_1 = i - 1;                              // +8
        const bool is_there_1 = a_1 >= 0 && a_1 < x_extent_0 && j < x_extent_1 && test_1; // +9
        const float total_1 = total + (is_there_1 ? x[(a_1 * x_extent_1 + j) * x_extent_2 + k] // +10
            : 0.0f);
        const int b = j + 1;                                // +8
        const bool is_there_2 = i < x_extent_0 && b < x_extent_1 && test_1; // +9
        const float total_2 = total_1 + (is_there_2 ? x[(i * x_extent_1 + b) * x_extent_2 + k] // +10
            : 0.0f);
        const int b_1 = j - 1;                              // +8
        const bool is_there_3 = i < x_extent_0 && b_1 >= 0 && b_1 < x_extent_1 && test_1; // +9
        const float total_3 = total_2 + (is_there_3 ? x[(i * x_extent_1 + b_1) * x_extent_2 + k] // +10
            : 0.0f);
        const int c = k + 1;                                // +8
        const float total_4 = total_3 + (test && c < x_extent_2 ? x[base + c] : 0.0f); // +10
        const int c_1 = k - 1;                              // +8
        y[base + k] = total_4 + (test && c_1 >= 0 && c_1 < x_extent_2 ? x[base + c_1] : 0.0f); // +11
    }
}
