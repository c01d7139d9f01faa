// match_operation(x: *f32, codes: *i32, y: *f32, N: i32, LIMIT: i32)
// with MODE=double, BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void match_operation(device const float* x [[buffer(0)]],
                            device const int* codes [[buffer(1)]],
                            device float* y [[buffer(2)]],
                            constant int& N [[buffer(3)]],
                            constant int& LIMIT [[buffer(4)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    const int codes_value = codes[row];                     // +4
    const float v = t < N ? x[row * N + t] : 0.0f;          // +3
    float result;                                           // +4
    if (codes_value == 0) {
        result = v;                                         // +6
    } else {
        const float result_1 = codes_value > LIMIT ? v + float(codes_value) : -v; // +4
        result = codes_value == 1 || codes_value == 2 ? v * v : result_1;
    }
    if (t < N) { y[row * N + t] = 2.0f * result; }          // +20
}
