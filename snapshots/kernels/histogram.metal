// histogram(data: *u8, counts: *i32, N: i32)
// with BINS=100, THREADS=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void histogram(device const uchar* data [[buffer(0)]],
                      device atomic_int* counts [[buffer(1)]],
                      constant int& N [[buffer(2)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 programs [[threadgroups_per_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int shared[100];
    const int t = int(thread_position.x);

    for (int slot = t; slot < 100; slot += 64) {            // +3
        shared[slot] = 0;                                   // +4
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +5
    int i = int(program.x) * 64 + t;                        // +7
    while (i < N) {
        atomic_fetch_add_explicit((threadgroup atomic_int*)&shared[data[i]], 1, // +8
            memory_order_relaxed);
        i = wrap_add(i, int(programs.x) * 64);              // +9
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +10
    for (int slot = t; slot < 100; slot += 64) {            // +11
        atomic_fetch_add_explicit(&counts[slot], shared[slot], memory_order_relaxed); // +12
    }
}
