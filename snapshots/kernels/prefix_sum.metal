// prefix_sum(x: *i32, y: *i32, N: i32) with THREADS=96 · 96 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void prefix_sum(device const int* x [[buffer(0)]],
                       device int* y [[buffer(1)]],
                       constant int& N [[buffer(2)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int shared[96];
    const int t = int(thread_position.x);

    const int i = int(program.x) * 96 + t;                  // +2
    const int total = i < N ? x[i] : 0;                     // +4
    shared[t] = total;                                      // +5
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +6
    int total_1 = total;                                    // +8
    int reach = 1;
    while (reach < 96) {
        const int total_2 = t >= reach ? wrap_add(total_1, shared[t - reach]) : total_1; // +9
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +11
        shared[t] = total_2;                                // +12
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +13
        total_1 = total_2;                                  // +14
        reach *= 2;
    }
    if (i < N) { y[i] = total_1; }                          // +15
}
