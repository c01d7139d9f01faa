#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit((device atomic<long>*)a, 1l, memory_order_relaxed);
}
// line 8: static assertion failed due to requirement 'sizeof(long) <= 4': atomics are of int, uint, bool and float
