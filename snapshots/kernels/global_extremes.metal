// global_extremes(x: *i32, result: *i32, N: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void global_extremes(device const int* x [[buffer(0)]],
                            device atomic_int* result [[buffer(1)]],
                            constant int& N [[buffer(2)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
    threadgroup int total_partial[4];
    threadgroup int low_partial[4];
    threadgroup int high_partial[4];
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // +1
    const bool mask = offs < N;                             // +2
    int total = as_type<int>(simd_sum(as_type<uint>(mask ? x[offs] : 0))); // +3
    int low = simd_min(mask ? x[offs] : INT_MAX);           // +4
    int high = simd_max(mask ? x[offs] : INT_MIN);          // +5
    if (lane == 0) {
        total_partial[simdgroup] = total;                   // +3
        low_partial[simdgroup] = low;                       // +4
        high_partial[simdgroup] = high;                     // +5
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = as_type<int>(simd_sum(as_type<uint>(lane < 4 ? total_partial[lane] : 0))); // +3
    low = simd_min(lane < 4 ? low_partial[lane] : INT_MAX); // +4
    high = simd_max(lane < 4 ? high_partial[lane] : INT_MIN); // +5
    if (t == 0) {                                           // +3
        atomic_fetch_add_explicit(&result[0], total, memory_order_relaxed);
        atomic_fetch_min_explicit(&result[1], low, memory_order_relaxed); // +4
        atomic_fetch_max_explicit(&result[2], high, memory_order_relaxed); // +5
    }
}
