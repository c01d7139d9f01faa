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
    const int group = int(program.y);                       // group_norm.py:12
    const int n = floor_div(C, 3);                          // group_norm.py:13
    const int size = wrap_mul(n, HW);
    const int base = (int(program.x) * 3 + group) * size;   // group_norm.py:14
    float total = 0.0f;                                     // group_norm.py:16
    float squares = 0.0f;
    for (long start = 0; start < size; start += 64) {
        const int i = int(start) + t;                       // group_norm.py:17
        const float v = i < size ? x[base + i] : 0.0f;      // group_norm.py:18
        float total_1 = simd_sum(v);                        // group_norm.py:19
        float total_2 = simd_sum(v * v);                    // group_norm.py:20
        if (lane == 0) {
            total_partial[stage % 2][simdgroup] = total_1;  // group_norm.py:19
            total_partial_1[stage % 2][simdgroup] = total_2; // group_norm.py:20
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total_1 = simd_sum(lane < 2 ? total_partial[stage % 2][lane] : 0.0f); // group_norm.py:19
        total_2 = simd_sum(lane < 2 ? total_partial_1[stage % 2][lane] : 0.0f); // group_norm.py:20
        stage += 1;
        total += total_1;                                   // group_norm.py:19
        squares += total_2;                                 // group_norm.py:20
    }
    const float mean = total / float(size);                 // group_norm.py:21
    const float scale = precise::rsqrt(squares / float(size) - mean * mean + 0.00001f); // group_norm.py:22
    for (long start = 0; start < size; start += 64) {       // group_norm.py:23
        const int i = int(start) + t;                       // group_norm.py:24
        if (i < size) {                                     // group_norm.py:29
            const int channel = group * n + floor_div(i, HW); // group_norm.py:26
            y[base + i] = (x[base + i] - mean) * scale * weight[channel] + bias[channel]; // group_norm.py:29
        }
    }
}
