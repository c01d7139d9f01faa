// simd_reduce(x: *i32, out: *i32, N: i32) with THREADS=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void simd_reduce(device const int* x [[buffer(0)]],
                        device atomic_int* out [[buffer(1)]],
                        constant int& N [[buffer(2)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
    threadgroup int shared[4];
    const int t = int(thread_position.x);

    const int i = int(program.x) * 128 + t;                 // +2
    const int total = as_type<int>(simd_sum(as_type<uint>(i < N ? x[i] : 0))); // +4
    if (int(lane) == 0) { shared[int(simdgroup)] = total; } // +5
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +7
    const int total_1 = as_type<int>(simd_sum(as_type<uint>(t < 4 ? shared[t] : 0))); // +9
    if (t == 0) {                                           // +10
        atomic_fetch_add_explicit(&out[0], total_1, memory_order_relaxed); // +11
    }
}
