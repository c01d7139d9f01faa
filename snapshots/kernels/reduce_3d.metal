// reduce_3d(x: *i32, sums: *i32, highs: *i32)
// with A=3, B=5, C=7 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void reduce_3d(device const int* x [[buffer(0)]],
                      device int* sums [[buffer(1)]],
                      device int* highs [[buffer(2)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int start_part = int(program.x) * 3 * 5;          // +2
    const int start = start_part * 7;
    if (t < 21) {
        int total = 0;                                      // +5
        const int a = t / 7;
        const int c = t % 7;
        for (int b = 0; b < 5; ++b) {
            total = wrap_add(total, x[start + (a * 5 + b) * 7 + c]);
        }
        sums[int(program.x) * 3 * 7 + a * 7 + c] = total;
    }
    if (t < 15) {
        int high = INT_MIN;                                 // +6
        for (int c = 0; c < 7; ++c) {
            high = max(high, x[start + t * 7 + c]);
        }
        highs[start_part + t / 5 * 5 + t % 5] = high;
    }
}
