// mandelbrot(out: *i32, W: i32, H: i32)
// with LIMIT=50, BLOCK=256 · 256 threads per program · Metal 2.3
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

// Python's a % b: has the sign of b; by zero it gives zero.
inline int floor_mod(int a, int b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

kernel void mandelbrot(device int* out [[buffer(0)]],
                       constant int& W [[buffer(1)]],
                       constant int& H [[buffer(2)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 256 + t;                 // +1
    const float cx = -2.0f + 2.5f * float(floor_mod(i, W)) / float(W); // +2
    const float cy = -1.25f + 2.5f * float(floor_div(i, W)) / float(H); // +3
    float x = 0.0f;                                         // +5
    float y = 0.0f;
    int n = 0;
    while (x * x + y * y < 4.0f && n < 50) {
        const float next_x = x * x - y * y + cx;            // +6
        y = 2.0f * x * y + cy;
        x = next_x;                                         // +7
        n += 1;
    }
    if (i < wrap_mul(W, H)) { out[i] = n; }                 // +8
}
