// 32 KB of threadgroup memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    threadgroup float big[8448];
    big[i] = b[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = big[i ^ 1u] + s[0];
}
// line 0: 33920 bytes of threadgroup memory, Metal has 32768
