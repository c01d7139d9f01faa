#include <metal_stdlib>
using namespace metal;

__kernel void other(__global float* x) {}
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}
// line 4: Metal has no `__global`
