// power_iteration(a: *f32, value: *f32, turns: *i32, N: i32)
// with MOST=12, BLOCK=32 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void power_iteration(device const float* a [[buffer(0)]],
                            device float* value [[buffer(1)]],
                            device int* turns [[buffer(2)]],
                            constant int& N [[buffer(3)]],
                            constant int& value_extent_0 [[buffer(4)]],
                            constant int& value_stride_0 [[buffer(5)]],
                            constant int& turns_extent_0 [[buffer(6)]],
                            constant int& turns_stride_0 [[buffer(7)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float x_shared[32];
    threadgroup float x_partial[32];
    threadgroup float total_partial[8];
    const int t = int(thread_position.x);

    float m[4];
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 256 * slot;
        const int i = e / 32;
        const int j = e % 32;
        m[slot] = i < N && j < N ? a[(int(program.x) * N + i) * N + j] : 0.0f; // +2
    }
    float x;                                                // +5
    if (t < 32) {
        x = 1.0f;
    }
    int turn = 0;
    float length_ = 0.0f;
    float length_1;
    int turn_1;
    while (true) {
        if (t < 32) { x_shared[t] = x; }
        if (turn >= 12) {
            length_1 = length_;                             // +13
            turn_1 = -1;
            break;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 256 * slot;
            const float x_1 = simd_sum(m[slot] * x_shared[e % 32]); // +7
            if (lane == 0) { x_partial[e / 32] = x_1; }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float x_1;
        float total = 0.0f;                                 // +8
        if (t < 32) {
            x_1 = x_partial[t];
            total = x_1 * x_1;
        }
        total = simd_sum(total);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 8 ? total_partial[lane] : 0.0f);
        const float length_2 = precise::sqrt(total);
        float x_2;
        if (t < 32) {
            x_2 = x_1 / length_2;                           // +9
        }
        const int turn_2 = turn + 1;                        // +6
        if (fabs(length_2 - length_) < 0.00001f * length_2) { // +10
            length_1 = length_2;                            // +11
            turn_1 = turn_2;
            break;
        }
        if (t < 32) {
            x = x_2;                                        // +10
        }
        turn = turn_2;
        length_ = length_2;
    }
    if (t == 0) {                                           // +14
        value[int(program.x) * value_stride_0] = length_1;
        turns[int(program.x) * turns_stride_0] = turn_1;    // +15
    }
}
