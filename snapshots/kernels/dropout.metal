// dropout(x: *f32, y: *f32, N: i32, p: f32, seed: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// Philox 4x32-10: four random words for each counter and key.
inline uint4 philox(uint4 counter, uint2 key) {
    for (int i = 0; i < 10; ++i) {
        const uint high0 = mulhi(counter.x, 0xD2511F53u);
        const uint high1 = mulhi(counter.z, 0xCD9E8D57u);
        counter = uint4(high1 ^ counter.y ^ key.x, counter.z * 0xCD9E8D57u,
                        high0 ^ counter.w ^ key.y, counter.x * 0xD2511F53u);
        key += uint2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

kernel void dropout(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant int& N [[buffer(2)]],
                    constant float& p [[buffer(3)]],
                    constant int& seed [[buffer(4)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // +1
    if (offs < N) {                                         // +4
        const float kept = float(int(philox(uint4(uint(offs), 0u, 0u, 0u), // +3
            uint2(uint(seed), 0u)).x >> 8u)) * 5.9604645e-8f >= p ? x[offs] / (1.0f - p) : 0.0f;
        y[offs] = kept;                                     // +4
    }
}
