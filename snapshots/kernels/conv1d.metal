// conv1d(x: *f32, weights: *f32, y: *f32, N: i32)
// with TAPS=5, BLOCK=96 · 96 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void conv1d(device const float* x [[buffer(0)]],
                   device const float* weights [[buffer(1)]],
                   device float* y [[buffer(2)]],
                   constant int& N [[buffer(3)]],
                   uint3 program [[threadgroup_position_in_grid]],
                   uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 96 + t;               // +1
    if (offs < N) {                                         // +6
        const int place = offs - 2;                         // +4
        const float total = 0.0f + weights[0] * (place >= 0 && place < N ? x[place] : 0.0f); // +5
        const int place_1 = offs + 1 - 2;                   // +4
        const float total_1 = total + weights[1] *          // +5
            (place_1 >= 0 && place_1 < N ? x[place_1] : 0.0f);
        const int place_2 = offs + 2 - 2;                   // +4
        const float total_2 = total_1 + weights[2] * (place_2 < N ? x[place_2] : 0.0f); // +5
        const int place_3 = offs + 3 - 2;                   // +4
        const float total_3 = total_2 + weights[3] * (place_3 < N ? x[place_3] : 0.0f); // +5
        const int place_4 = offs + 4 - 2;                   // +4
        y[offs] = total_3 + weights[4] * (place_4 < N ? x[place_4] : 0.0f); // +6
    }
}
