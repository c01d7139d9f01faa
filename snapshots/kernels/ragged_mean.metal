// ragged_mean(x: *f32, starts: *i32, means: *f32)
// with BLOCK=16 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_sub(int a, int b) {
    return as_type<int>(as_type<uint>(a) - as_type<uint>(b));
}

kernel void ragged_mean(device const float* x [[buffer(0)]],
                        device const int* starts [[buffer(1)]],
                        device float* means [[buffer(2)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    const int begin = starts[row];                          // +2
    const int end = starts[row + 1];
    if (begin == end) {                                     // +3
        if (t == 0) { means[row] = NAN; }                   // +4
    } else {
        float total = 0.0f;                                 // +7
        for (long start = begin; start < end; start += 16) {
            float total_1 = 0.0f;                           // +9
            if (t < 16) {
                const int offs = int(start) + t;            // +8
                total_1 = offs < end ? x[offs] : 0.0f;      // +9
            }
            total_1 = simd_sum(total_1);
            total += total_1;
        }
        if (t == 0) {                                       // +10
            means[row] = total / float(wrap_sub(end, begin));
        }
    }
}
