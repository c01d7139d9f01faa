#include <metal_stdlib>
using namespace metal;

kernel void broken(constant atomic_int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(a, 1, memory_order_relaxed);
}
// line 5: no matching function for call to 'atomic_fetch_add_explicit'
