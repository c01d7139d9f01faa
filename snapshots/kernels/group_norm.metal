// group_norm(x: *f32, weight: *f32, bias: *f32, y: *f32, C: i32, HW: i32)
// with GROUPS=3, BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Python's a // b: rounds towards minus infinity; by zero it gives zero.
inline int floor_div(int a, int b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : wrap_neg(a);
    }
    return a / b - int(a % b != 0 && (a < 0) != (b < 0));
}

kernel void group_norm(device const float* x [[buffer(0)]],
                       device const float* weight [[buffer(1)]],
                       device const float* bias [[buffer(2)]],
                       device float* y [[buffer(3)]],
                       constant int& C [[buffer(4)]],
                       constant int& HW [[buffer(5)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float total_partial[2][2];
    threadgroup float total_partial_1[2][2];
    const int t = int(thread_position.x);

    int stage = 0;
    const int group = int(program.y);                       // +1
    const int n = floor_div(C, 3);                          // +2
    const int size = wrap_mul(n, HW);
    const int base = (int(program.x) * 3 + group) * size;   // +3
    float total = 0.0f;                                     // +5
    float squares = 0.0f;
    for (long start = 0; start < size; start += 64) {
        const int i = int(start) + t;                       // +6
        const float v = i < size ? x[base + i] : 0.0f;      // +7
        float total_1 = simd_sum(v);                        // +8
        float total_2 = simd_sum(v * v);                    // +9
        if (lane == 0) {
            total_partial[stage % 2][simdgroup] = total_1;  // +8
            total_partial_1[stage % 2][simdgroup] = total_2; // +9
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total_1 = simd_sum(lane < 2 ? total_partial[stage % 2][lane] : 0.0f); // +8
        total_2 = simd_sum(lane < 2 ? total_partial_1[stage % 2][lane] : 0.0f); // +9
        stage += 1;
        total += total_1;                                   // +8
        squares += total_2;                                 // +9
    }
    const float mean = total / float(size);                 // +10
    const float scale = precise::rsqrt(squares / float(size) - mean * mean + 0.00001f); // +11
    for (long start = 0; start < size; start += 64) {       // +12
        const int i = int(start) + t;                       // +13
        if (i < size) {                                     // +18
            const int channel = group * n + floor_div(i, HW); // +15
            y[base + i] = (x[base + i] - mean) * scale * weight[channel] + bias[channel]; // +18
        }
    }
}
