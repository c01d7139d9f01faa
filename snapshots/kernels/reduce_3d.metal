// reduce_3d(x: *i32, sums: *i32, highs: *i32) with A=3, B=5, C=7 · 32 threads per program · Metal 2.3
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
    threadgroup int v_shared[105];
    const int t = int(thread_position.x);

    const int n = int(program.x) * 3 * 5;                   // reduce_3d.py:13
    const int start = n * 7;
    for (int e = t; e < 105; e += 32) {
        const int offs = start + (e / 35 * 5 + e / 7 % 5) * 7 + e % 7; // reduce_3d.py:14
        v_shared[e] = x[offs];                              // reduce_3d.py:15
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 21) {
        int total = 0;                                      // reduce_3d.py:16
        const int a = t / 7;
        const int c = t % 7;
        for (int k = 0; k < 5; ++k) {
            total = wrap_add(total, v_shared[a * 35 + k * 7 + c]);
        }
        sums[int(program.x) * 3 * 7 + a * 7 + c] = total;
    }
    if (t < 15) {
        int high = INT_MIN;                                 // reduce_3d.py:17
        for (int k = 0; k < 7; ++k) {
            high = max(high, v_shared[t * 7 + k]);
        }
        highs[n + t / 5 * 5 + t % 5] = high;
    }
}
