// ssm_scan(decay: *f32, gain: *f32, readout: *f32, y: *f32)
// with T=37, D=6 · 224 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void ssm_scan(device const float* decay [[buffer(0)]],
                     device const float* gain [[buffer(1)]],
                     device const float* readout [[buffer(2)]],
                     device float* y [[buffer(3)]],
                     uint3 thread_position [[thread_position_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float combined_partial[7];
    threadgroup float combined_partial_1[7];
    threadgroup float state_part_shared[222];
    threadgroup float block_shared[222];
    const int t = int(thread_position.x);

    float running;                                          // +2
    float running_1;
    float readout_value;
    if (t < 222) {
        const int j = t % 37;
        const int at = j * 6 + t / 37;                      // +1
        float running_2 = decay[at];                        // +2
        float running_3 = gain[at];
        for (ushort lane_delta = 1; lane_delta < 32; lane_delta *= 2) {
            const float other_running = simd_shuffle_up(running_2, lane_delta);
            const float other_running_1 = simd_shuffle_up(running_3, lane_delta);
            if (int(lane) >= lane_delta && j >= lane_delta) {
                running_3 = other_running_1 * running_2 + running_3; // compose+2
                running_2 = other_running * running_2;
            }
        }
        if (lane == 31) {                                   // +2
            combined_partial[t / 32] = running_2;
            combined_partial_1[t / 32] = running_3;
        }
        running = running_2;
        running_1 = running_3;
        readout_value = readout[t];                         // +3
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 222) {
        float prefix = combined_partial[min(lane, 5u)];     // +2
        float prefix_1 = combined_partial_1[min(lane, 5u)];
        const int n = (int(lane) * 32 + 31) % 37;
        for (ushort lane_delta = 1; lane_delta < 7; lane_delta *= 2) {
            const float other_prefix = simd_shuffle_up(prefix, lane_delta);
            const float other_prefix_1 = simd_shuffle_up(prefix_1, lane_delta);
            if (int(lane) >= lane_delta && n >= lane_delta * 32) {
                prefix_1 = other_prefix_1 * prefix + prefix_1; // compose+2
                prefix = other_prefix * prefix;
            }
        }
        const float carry_in = simd_shuffle(prefix, ushort(max(t / 32 - 1, 0)));
        const float carry_in_1 = simd_shuffle(prefix_1, ushort(max(t / 32 - 1, 0)));
        if (t % 37 > int(lane)) {                           // +2
            running_1 = carry_in_1 * running + running_1;   // compose+2
            running = carry_in * running;
        }
        state_part_shared[t] = running_1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 222) {
        block_shared[t] = state_part_shared[t % 6 * 37 + t / 6] * readout_value; // +3
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 37) {
        float total = 0.0f;
        for (int k = 0; k < 6; ++k) {
            total += block_shared[t * 6 + k];
        }
        y[t] = total;
    }
}
