// stencil(x: *f32, y: *f32, H: i32, W: i32)
// with RATE=0.1, TILE=16 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_sub(int a, int b) {
    return as_type<int>(as_type<uint>(a) - as_type<uint>(b));
}

kernel void stencil(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant int& H [[buffer(2)]],
                    constant int& W [[buffer(3)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int row = int(program.x) * 16 + t / 16;           // +1
    const int col = int(program.y) * 16 + t % 16;           // +2
    if (row < H && col < W) {                               // +13
        const bool inner = row > 0 && row < wrap_sub(H, 1) && col > 0 && col < wrap_sub(W, 1); // +5
        const int here = row * W + col;                     // +3
        const float centre = x[here];                       // +6
        const float around = (inner ? x[here - W] : 0.0f) + (inner ? x[here + W] : 0.0f) + // +8
            (inner ? x[here - 1] : 0.0f) + (inner ? x[here + 1] : 0.0f);
        y[here] = inner ? centre + 0.1f * (around - 4.0f * centre) : centre; // +13
    }
}
