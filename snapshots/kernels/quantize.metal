// quantize(x: *f32, codes: *i8, scales: *f32, fits: *bool, N: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void quantize(device const float* x [[buffer(0)]],
                     device char* codes [[buffer(1)]],
                     device const float* scales [[buffer(2)]],
                     device bool* fits [[buffer(3)]],
                     constant int& N [[buffer(4)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    threadgroup bool holds_partial[4];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    const bool mask = t < N;                                // +3
    const float scaled = rint((mask ? x[row * N + t] : 0.0f) / scales[row]); // +5
    if (mask) {                                             // +6
        codes[row * N + t] = char(fmin(fmax(scaled, -127.0f), 127.0f));
    }
    bool holds = simd_all(fabs(scaled) <= 127.0f);          // +7
    if (lane == 0) { holds_partial[simdgroup] = holds; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    holds = simd_all(lane < 4 ? holds_partial[lane] : true);
    if (t == 0) { fits[row] = holds; }
}
