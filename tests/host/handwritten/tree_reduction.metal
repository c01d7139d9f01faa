#include <metal_stdlib>
using namespace metal;

kernel void tree_reduction(device const float* input [[buffer(0)]],
                           device float* output [[buffer(1)]],
                           constant uint& count [[buffer(2)]],
                           uint gid [[thread_position_in_grid]],
                           uint tid [[thread_position_in_threadgroup]],
                           uint group [[threadgroup_position_in_grid]],
                           uint width [[threads_per_threadgroup]]) {
    threadgroup float shared[256];
    shared[tid] = gid < count ? input[gid] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint stride = width / 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tid == 0) {
        output[group] = shared[0];
    }
}
