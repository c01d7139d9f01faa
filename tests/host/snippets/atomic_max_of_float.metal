// floats have no atomic max
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    atomic_fetch_max_explicit((device atomic_float*)a, 1.0f, memory_order_relaxed);
}
// line 10: no matching function for call to 'atomic_fetch_max_explicit'
