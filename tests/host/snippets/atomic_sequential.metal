// atomics are relaxed
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    atomic_fetch_add_explicit((device atomic_int*)a, 1, memory_order_seq_cst);
}
// line 10: use of undeclared identifier 'memory_order_seq_cst'; did you mean 'memory_order_relaxed'?
