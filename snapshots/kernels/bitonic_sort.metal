// bitonic_sort(x: *f32, y: *f32, N: i32) with STAGES=4 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void bitonic_sort(device const float* x [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         constant int& N [[buffer(2)]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float v_shared[16];
    threadgroup float v_shared_1[16];
    threadgroup float v_shared_2[16];
    threadgroup float v_shared_3[16];
    threadgroup float v_shared_4[16];
    threadgroup float v_shared_5[16];
    threadgroup float v_shared_6[16];
    threadgroup float v_shared_7[16];
    threadgroup float v_shared_8[16];
    const int t = int(thread_position.x);

    float v;
    if (t < 16) {
        const float v_1 = t < N ? x[t] : INFINITY;          // +3
        const int i = t / 2 * 2 - t % 2 + 1;
        const float v_2 = i < N ? x[i] : INFINITY;
        v = (t & 1) == 0 == ((t & 2) == 0) ? fmin(v_1, v_2) : fmax(v_1, v_2); // +10
        v_shared[t] = v;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_1;
    if (t < 16) {
        const float pairs = v_shared[t / 4 * 4 + t % 2 - t / 2 % 2 * 2 + 2];
        v_1 = (t & 2) == 0 == ((t & 4) == 0) ? fmin(v, pairs) : fmax(v, pairs);
        v_shared_1[t] = v_1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_2;
    if (t < 16) {
        const float pairs = v_shared_1[t / 2 * 2 - t % 2 + 1];
        v_2 = (t & 1) == 0 == ((t & 4) == 0) ? fmin(v_1, pairs) : fmax(v_1, pairs);
        v_shared_2[t] = v_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_3;
    if (t < 16) {
        const float pairs = v_shared_2[t / 8 * 8 + t % 4 - t / 4 % 2 * 4 + 4];
        v_3 = (t & 4) == 0 == ((t & 8) == 0) ? fmin(v_2, pairs) : fmax(v_2, pairs);
        v_shared_3[t] = v_3;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_4;
    if (t < 16) {
        const float pairs = v_shared_3[t / 4 * 4 + t % 2 - t / 2 % 2 * 2 + 2];
        v_4 = (t & 2) == 0 == ((t & 8) == 0) ? fmin(v_3, pairs) : fmax(v_3, pairs);
        v_shared_4[t] = v_4;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_5;
    if (t < 16) {
        const float pairs = v_shared_4[t / 2 * 2 - t % 2 + 1];
        v_5 = (t & 1) == 0 == ((t & 8) == 0) ? fmin(v_4, pairs) : fmax(v_4, pairs);
        v_shared_5[t] = v_5;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_6;
    if (t < 16) {
        const float pairs = v_shared_5[t % 8 - t / 8 * 8 + 8];
        v_6 = (t & 8) == 0 == ((t & 16) == 0) ? fmin(v_5, pairs) : fmax(v_5, pairs);
        v_shared_6[t] = v_6;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_7;
    if (t < 16) {
        const float pairs = v_shared_6[t / 8 * 8 + t % 4 - t / 4 % 2 * 4 + 4];
        v_7 = (t & 4) == 0 == ((t & 16) == 0) ? fmin(v_6, pairs) : fmax(v_6, pairs);
        v_shared_7[t] = v_7;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v_8;
    if (t < 16) {
        const float pairs = v_shared_7[t / 4 * 4 + t % 2 - t / 2 % 2 * 2 + 2];
        v_8 = (t & 2) == 0 == ((t & 16) == 0) ? fmin(v_7, pairs) : fmax(v_7, pairs);
        v_shared_8[t] = v_8;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 16 && t < N) {
        const float pairs = v_shared_8[t / 2 * 2 - t % 2 + 1];
        y[t] = (t & 1) == 0 == ((t & 16) == 0) ? fmin(v_8, pairs) : fmax(v_8, pairs); // +11
    }
}
