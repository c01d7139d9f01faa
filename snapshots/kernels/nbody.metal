// nbody(px: *f32, py: *f32, mass: *f32, ax: *f32, ay: *f32, N: i32)
// with SOFTENING=0.01, BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void nbody(device const float* px [[buffer(0)]],
                  device const float* py [[buffer(1)]],
                  device const float* mass [[buffer(2)]],
                  device float* ax [[buffer(3)]],
                  device float* ay [[buffer(4)]],
                  constant int& N [[buffer(5)]],
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 32 + t;                  // +1
    const float x = i < N ? px[i] : 0.0f;                   // +2
    const float y = i < N ? py[i] : 0.0f;
    float pull_x = 0.0f;                                    // +4
    float pull_y = 0.0f;
    for (int other = 0; other < N; ++other) {
        const float dx = px[other] - x;                     // +5
        const float dy = py[other] - y;
        const float inverse = precise::rsqrt(dx * dx + dy * dy + 0.01f); // +6
        const float strength = mass[other] * inverse * inverse * inverse; // +7
        pull_x += strength * dx;                            // +8
        pull_y += strength * dy;                            // +9
    }
    if (i < N) {                                            // +10
        ax[i] = pull_x;
        ay[i] = pull_y;                                     // +11
    }
}
