// mandelbrot(out: *i32, W: i32, H: i32) with LIMIT=50, BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Rounds towards zero; by zero it gives zero.
inline int trunc_div(int a, int b) {
    return b == 0 ? int(0) : b == -1 ? wrap_neg(a) : a / b;
}

// The remainder of trunc_div.
inline int trunc_mod(int a, int b) {
    return b == 0 || b == -1 ? int(0) : a % b;
}

// Python's a // b: rounds towards minus infinity.
inline int floor_div(int a, int b) {
    const int q = trunc_div(a, b);
    return trunc_mod(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// Python's a % b: has the sign of b.
inline int floor_mod(int a, int b) {
    const int r = trunc_mod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

kernel void mandelbrot(device int* out [[buffer(0)]],
                       constant int& W [[buffer(1)]],
                       constant int& H [[buffer(2)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    float x = 0.0f;                                         // mandelbrot.py:16
    float y = 0.0f;
    int n = 0;
    const int i = int(program.x) * 256 + t;                 // mandelbrot.py:12
    const float cx = -2.0f + 2.5f * float(floor_mod(i, W)) / float(W); // mandelbrot.py:13
    const float cy = -1.25f + 2.5f * float(floor_div(i, W)) / float(H); // mandelbrot.py:14
    while (x * x + y * y < 4.0f && n < 50) {                // mandelbrot.py:16
        const float x_1 = x * x - y * y + cx;               // mandelbrot.py:17
        const float y_1 = 2.0f * x * y + cy;
        x = x_1;                                            // mandelbrot.py:18
        y = y_1;
        n += 1;
    }
    if (i < W * H) { out[i] = n; }                          // mandelbrot.py:19
}
