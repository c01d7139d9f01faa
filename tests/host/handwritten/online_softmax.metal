#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;

static constant constexpr const int N_READS = 4;

kernel void online_softmax(const device float* in [[buffer(0)]],
                           device float* out [[buffer(1)]],
                           constant int& axis_size [[buffer(2)]],
                           uint gid [[threadgroup_position_in_grid]],
                           uint lid [[thread_position_in_threadgroup]],
                           uint lsize [[threads_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
    in += gid * axis_size;
    constexpr int SIMD_SIZE = 32;
    threadgroup float local_max[SIMD_SIZE];
    threadgroup float local_normalizer[SIMD_SIZE];

    float prevmax;
    float maxval = -FLT_MAX;
    float normalizer = 0;
    for (int r = 0; r < int(ceil(axis_size / float(N_READS * lsize))); r++) {
        int offset = r * lsize * N_READS + lid * N_READS;
        float vals[N_READS];
        for (int i = 0; i < N_READS; i++) {
            vals[i] = (offset + i < axis_size) ? in[offset + i] : -INFINITY;
        }
        prevmax = maxval;
        for (int i = 0; i < N_READS; i++) {
            maxval = (maxval < vals[i]) ? vals[i] : maxval;
        }
        normalizer *= fast::exp(prevmax - maxval);
        for (int i = 0; i < N_READS; i++) {
            normalizer += fast::exp(vals[i] - maxval);
        }
    }
    prevmax = maxval;
    maxval = simd_max(maxval);
    normalizer *= fast::exp(prevmax - maxval);
    normalizer = simd_sum(normalizer);

    prevmax = maxval;
    if (simd_lane_id == 0) {
        local_max[simd_group_id] = maxval;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    maxval = simd_max(simd_lane_id < lsize / SIMD_SIZE ? local_max[simd_lane_id] : -FLT_MAX);
    normalizer *= fast::exp(prevmax - maxval);
    if (simd_lane_id == 0) {
        local_normalizer[simd_group_id] = normalizer;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    normalizer = simd_sum(simd_lane_id < lsize / SIMD_SIZE ? local_normalizer[simd_lane_id] : 0);
    normalizer = 1 / normalizer;

    out += gid * axis_size;
    for (int i = lid; i < axis_size; i += lsize) {
        out[i] = precise::exp(in[i] - maxval) * normalizer;
    }
}
