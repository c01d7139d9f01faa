#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

constant constexpr uint BINS = 16;

kernel void histogram(device const uchar* data [[buffer(0)]],
                      device atomic_uint* counts [[buffer(1)]],
                      constant uint& count [[buffer(2)]],
                      uint gid [[thread_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint local[BINS];
    if (tid < BINS) {
        atomic_store_explicit(&local[tid], 0, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid < count) {
        atomic_fetch_add_explicit(&local[data[gid]], 1, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < BINS) {
        const uint found = atomic_load_explicit(&local[tid], memory_order_relaxed);
        atomic_fetch_add_explicit(&counts[tid], found, memory_order_relaxed);
    }
}
