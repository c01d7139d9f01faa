#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    atomic_int n = *(device atomic_int*)a;
    a[i] = 1;
}
// line 8: call to deleted constructor of 'thread atomic_int' (aka 'thread atomic<int>')
