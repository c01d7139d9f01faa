// odd_even_sort(x: *i32, N: i32) with THREADS=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void odd_even_sort(device int* x [[buffer(0)]],
                          constant int& N [[buffer(1)]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int shared[64];
    const int t = int(thread_position.x);

    for (long i = t; i < N; i += 32) {                      // +3
        shared[int(i)] = x[int(i)];                         // +4
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +5
    for (int turn = 0; turn < N; ++turn) {                  // +6
        const int left = 2 * t + turn % 2;                  // +7
        if (left + 1 < N) {                                 // +8
            const int a = shared[left];                     // +9
            const int b = shared[left + 1];
            if (a > b) {                                    // +10
                shared[left] = b;                           // +11
                shared[left + 1] = a;                       // +12
            }
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +13
    }
    for (long i = t; i < N; i += 32) {                      // +14
        x[int(i)] = shared[int(i)];                         // +15
    }
}
