// complex_polynomial(z: *f32, w: *f32, N: i32)
// with C=Complex, BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void complex_polynomial(device const float* z [[buffer(0)]],
                               device float* w [[buffer(1)]],
                               constant int& N [[buffer(2)]],
                               uint3 program [[threadgroup_position_in_grid]],
                               uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +5
        const float z_value = z[2 * offs];                  // +3
        const float z_value_1 = z[2 * offs + 1];
        const float x = z_value * z_value - z_value_1 * z_value_1; // multiply+1
        const float x_1 = z_value * z_value_1;
        const float x_2 = x_1 + x_1;
        w[2 * offs] = x * z_value - x_2 * z_value_1 + 0.25f; // +5
        w[2 * offs + 1] = x * z_value_1 + x_2 * z_value - 0.5f; // +6
    }
}
