// nearest(points: *f32, centres: *f32, index: *i32, N: i32)
// with CENTRES=13, BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void nearest(device const float* points [[buffer(0)]],
                    device const float* centres [[buffer(1)]],
                    device int* index [[buffer(2)]],
                    constant int& N [[buffer(3)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    float best = INFINITY;                                  // +6
    int best_index = 0;
    const int i = int(program.x) * 32 + t;                  // +1
    const float points_value = i < N ? points[2 * i] : 0.0f; // +3
    const float points_value_1 = i < N ? points[2 * i + 1] : 0.0f; // +4
    for (int k = 0; k < 13; ++k) {                          // +6
        const float dx = points_value - centres[2 * k];     // +3
        const float dy = points_value_1 - centres[2 * k + 1]; // +4
        const float squares = dx * dx + dy * dy;            // +5
        if (squares < best) {                               // +6
            best = squares;
            best_index = k;
        }
    }
    if (i < N) { index[i] = best_index; }
}
