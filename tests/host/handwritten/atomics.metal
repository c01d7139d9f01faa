#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

inline void atomic_max_float(device atomic_uint* place, float value) {
    uint seen = atomic_load_explicit(place, memory_order_relaxed);
    while (as_type<float>(seen) < value &&
           !atomic_compare_exchange_weak_explicit(place, &seen, as_type<uint>(value), memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

kernel void atomics(device const float* x [[buffer(0)]],
                    device const int* n [[buffer(1)]],
                    device atomic_int* extremes [[buffer(2)]],
                    device atomic_float& sum [[buffer(3)]],
                    device atomic_uint* highest [[buffer(4)]],
                    device atomic_uint* bits [[buffer(5)]],
                    device uint* order [[buffer(6)]],
                    uint i [[thread_position_in_grid]],
                    uint t [[thread_index_in_threadgroup]]) {
    threadgroup atomic_int count;
    if (t == 0) {
        atomic_store_explicit(&count, 0, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (n[i] % 2 != 0) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
    atomic_fetch_max_explicit(&extremes[0], n[i], memory_order_relaxed);
    atomic_fetch_min_explicit(extremes + 1, n[i], memory_order_relaxed);
    atomic_fetch_add_explicit(&sum, x[i], memory_order_relaxed);
    atomic_max_float(highest, x[i]);
    atomic_fetch_or_explicit(&bits[0], 1u << (i % 32), memory_order_relaxed);
    atomic_fetch_xor_explicit(&bits[1], i, memory_order_relaxed);
    atomic_fetch_and_explicit(&bits[2], ~(1u << (i % 7)), memory_order_relaxed);
    order[i] = atomic_fetch_add_explicit(&bits[3], 1, memory_order_relaxed) < 1000 ? 1 : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        atomic_fetch_add_explicit(&extremes[2], atomic_load_explicit(&count, memory_order_relaxed),
                                  memory_order_relaxed);
    }
}
