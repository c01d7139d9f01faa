// tiled_scale(a: *f32, out: *f32, M: i32, N: i32)
// with ROWS=4, COLUMNS=16 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void tiled_scale(device const float* a [[buffer(0)]],
                        device float* out [[buffer(1)]],
                        constant int& M [[buffer(2)]],
                        constant int& N [[buffer(3)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int n = t / 16 + int(program.x) * 4;              // +5
    const int j = t % 16;
    int source = 0;                                         // +4
    int target = 0;
    for (long n_1 = 0; n_1 < N; n_1 += 16) {
        threadgroup_barrier(mem_flags::mem_device);
        if (n < M && j + target >= 0 && j + target < N) {   // +5
            const float a_value = n < M && j + source >= 0 && j + source < N
                ? a[n * N + (j + source)] : 0.0f;
            out[n * N + (j + target)] = 2.0f * a_value;
        }
        source += 16;                                       // +6
        target += 16;                                       // +7
    }
}
