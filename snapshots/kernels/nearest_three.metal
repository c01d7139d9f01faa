// nearest_three(x: *f32, out: *f32, M: i32, N: i32)
// with BLOCK=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void nearest_three(device const float* x [[buffer(0)]],
                          device float* out [[buffer(1)]],
                          constant int& M [[buffer(2)]],
                          constant int& N [[buffer(3)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    float least = 0.0f;                                     // +3
    float least_1 = 0.0f;
    float least_2 = 0.0f;
    for (int place = 0; place < 3; ++place) {
        least = place == 0 ? 1e+30f : least;                // +4
        least_1 = place == 1 ? 1e+30f : least_1;
        least_2 = place == 2 ? 1e+30f : least_2;
    }
    float least_3;
    float least_4;
    float least_5;
    if (t < 16) {
        const int row = int(program.x) * 16 + t;            // +1
        float least_6 = least;                              // +5
        float least_7 = least_1;
        float least_8 = least_2;
        for (int column = 0; column < N; ++column) {
            float value = row < M ? x[row * N + column] : 0.0f; // insert+1
            for (int place = 0; place < 3; ++place) {
                const float value_1 = place == 2 ? least_8 : place == 1 ? least_7 : least_6; // insert+2
                least_6 = value < value_1 ? (place == 0 ? value : least_6) : least_6;
                least_7 = value < value_1 ? (place == 1 ? value : least_7) : least_7;
                least_8 = value < value_1 ? (place == 2 ? value : least_8) : least_8;
                value = value < value_1 ? value_1 : value;
            }
        }
        least_3 = least_6;
        least_4 = least_7;
        least_5 = least_8;
    }
    for (int place = 0; place < 3; ++place) {               // +7
        threadgroup_barrier(mem_flags::mem_device);
        if (t < 16) {
            const int row = int(program.x) * 16 + t;        // +1
            if (row < M) {                                  // +8
                out[row * 3 + place] = place == 2 ? least_5 : place == 1 ? least_4 : least_3;
            }
        }
    }
}
