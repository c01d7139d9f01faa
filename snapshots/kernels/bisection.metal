// bisection(targets: *f32, roots: *f32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void bisection(device const float* targets [[buffer(0)]],
                      device float* roots [[buffer(1)]],
                      constant int& N [[buffer(2)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    const float target = offs < N ? targets[offs] : 0.0f;   // +2
    float low = 0.0f;                                       // +4
    float high = fmax(target, 1.0f);
    while (high - low > 0.00001f * high) {
        const float middle = 0.5f * (low + high);           // +5
        const bool test = middle * middle * middle + middle < target; // +6
        low = test ? middle : low;
        high = test ? high : middle;
    }
    if (offs < N) { roots[offs] = low; }                    // +10
}
