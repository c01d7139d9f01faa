// odd_even_sort(x: *i32, N: i32) with THREADS=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void odd_even_sort(device int* x [[buffer(0)]],
                          constant int& N [[buffer(1)]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int shared[64];
    const int t = int(thread_position.x);

    for (long i = t; i < N; i += 32) {                      // odd_even_sort.py:14
        shared[int(i)] = x[int(i)];                         // odd_even_sort.py:15
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // odd_even_sort.py:16
    for (int turn = 0; turn < N; ++turn) {                  // odd_even_sort.py:17
        const int left = 2 * t + turn % 2;                  // odd_even_sort.py:18
        if (left + 1 < N) {                                 // odd_even_sort.py:19
            const int a = shared[left];                     // odd_even_sort.py:20
            const int b = shared[left + 1];
            if (a > b) {                                    // odd_even_sort.py:21
                shared[left] = b;                           // odd_even_sort.py:22
                shared[left + 1] = a;                       // odd_even_sort.py:23
            }
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // odd_even_sort.py:24
    }
    for (long i = t; i < N; i += 32) {                      // odd_even_sort.py:25
        x[int(i)] = shared[int(i)];                         // odd_even_sort.py:26
    }
}
