// newton_sqrt(x: *f32, y: *f32, N: i32) with BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void newton_sqrt(device const float* x [[buffer(0)]],
                        device float* y [[buffer(1)]],
                        constant int& N [[buffer(2)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 32 + t;               // +1
    const float v = offs < N ? x[offs] : 1.0f;              // +2
    const float x_1 = 0.0001f * v;                          // +5
    float root = fmax(v, 1.0f);
    int rounds = 0;
    while (true) {
        const bool found = simd_any(fabs(root * root - v) > x_1);
        if (!(found && rounds < 50)) { break; }
        root = 0.5f * (root + v / root);                    // +6
        rounds += 1;                                        // +7
    }
    if (offs < N) { y[offs] = root; }                       // +8
}
