// radix_histogram(keys: *u32, counts: *i32, N: i32)
// with THREADS=96 · 96 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void radix_histogram(device const uint* keys [[buffer(0)]],
                            device atomic_int* counts [[buffer(1)]],
                            constant int& N [[buffer(2)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 programs [[threadgroups_per_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int local_[64];
    const int t = int(thread_position.x);

    if (t < 64) { local_[t] = 0; }                          // +3
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +5
    for (long i = int(program.x) * 96 + t; i < N; i += int(programs.x) * 96) { // +6
        const uint key = keys[int(i)];                      // +7
        atomic_fetch_add_explicit((threadgroup atomic_int*)&local_[int(key & 15u)], 1, // +9
            memory_order_relaxed);
        atomic_fetch_add_explicit((threadgroup atomic_int*)&local_[16 + int((key >> 4u) & 15u)],
            1, memory_order_relaxed);
        atomic_fetch_add_explicit((threadgroup atomic_int*)&local_[32 + int((key >> 8u) & 15u)],
            1, memory_order_relaxed);
        atomic_fetch_add_explicit((threadgroup atomic_int*)&local_[48 + int((key >> 12u) & 15u)],
            1, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +10
    if (t < 64) {                                           // +11
        atomic_fetch_add_explicit(&counts[t], local_[t], memory_order_relaxed); // +12
    }
}
