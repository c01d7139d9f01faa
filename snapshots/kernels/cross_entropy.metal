// cross_entropy(logits: *f32, labels: *i32, loss: *f32, grad: *f32, N: i32)
// with BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void cross_entropy(device const float* logits [[buffer(0)]],
                          device const int* labels [[buffer(1)]],
                          device float* loss [[buffer(2)]],
                          device float* grad [[buffer(3)]],
                          constant int& N [[buffer(4)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float high_partial[8];
    threadgroup float total_partial[8];
    const int t = int(thread_position.x);

    const int row = int(program.x);                         // +1
    float v[2];
    float high = -INFINITY;                                 // +5
    for (int slot = 0; slot < 2; ++slot) {
        const int i = t + 256 * slot;
        v[slot] = i < N ? logits[row * N + i] : -INFINITY;  // +3
        high = fmax(high, v[slot]);                         // +5
    }
    high = simd_max(high);
    if (lane == 0) { high_partial[simdgroup] = high; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    high = simd_max(lane < 8 ? high_partial[lane] : -INFINITY);
    float powers[2];
    float total = 0.0f;                                     // +7
    for (int slot = 0; slot < 2; ++slot) {
        powers[slot] = precise::exp(v[slot] - high);        // +6
        total += powers[slot];                              // +7
    }
    total = simd_sum(total);
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 8 ? total_partial[lane] : 0.0f);
    const int label = labels[row];                          // +4
    if (t == 0) {                                           // +8
        loss[row] = precise::log(total) + high - logits[row * N + label];
    }
    for (int slot = 0; slot < 2; ++slot) {
        const int i = t + 256 * slot;
        if (i < N) {                                        // +9
            grad[row * N + i] = powers[slot] / total - (i == label ? 1.0f : 0.0f);
        }
    }
}
