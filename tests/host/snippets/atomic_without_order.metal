// atomics say their order
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    atomic_fetch_add_explicit((device atomic_int*)a, 1);
}
// line 10: no matching function for call to 'atomic_fetch_add_explicit'
