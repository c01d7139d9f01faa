#include <metal_stdlib>
using namespace metal;

template <typename T>
METAL_FUNC T limit() {
    return -numeric_limits<T>::infinity();
}

kernel void softmax(device const float* in [[buffer(0)]],
                    device float* out [[buffer(1)]],
                    constant uint& size [[buffer(2)]],
                    threadgroup float* local [[threadgroup(0)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint lid [[thread_position_in_threadgroup]],
                    uint lsize [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simd [[simdgroup_index_in_threadgroup]],
                    uint simds [[simdgroups_per_threadgroup]]) {
    device const float* x = in + row * size;
    device float* y = out + row * size;

    float high = limit<float>();
    for (uint i = lid; i < size; i += lsize) {
        high = max(high, x[i]);
    }
    high = simd_max(high);
    if (lane == 0) {
        local[simd] = high;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    high = simd_max(lane < simds ? local[lane] : limit<float>());
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float total = 0;
    for (uint i = lid; i < size; i += lsize) {
        total += exp(x[i] - high);
    }
    total = simd_sum(total);
    if (lane == 0) {
        local[simd] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < simds ? local[lane] : 0.0f);

    for (uint i = lid; i < size; i += lsize) {
        y[i] = exp(x[i] - high) / total;
    }
}
