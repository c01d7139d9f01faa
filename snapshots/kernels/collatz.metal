// collatz(out: *i32, N: i32) with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

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

kernel void collatz(device int* out [[buffer(0)]],
                    constant int& N [[buffer(1)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // collatz.py:12
    int n = offs + 1;                                       // collatz.py:15
    int steps = 0;
    while (n != 1) {
        n = floor_mod(n, 2) == 0 ? floor_div(n, 2) : wrap_add(wrap_mul(3, n), 1); // collatz.py:17
        steps = wrap_add(steps, 1);
    }
    if (offs < N) { out[offs] = steps; }                    // collatz.py:18
}
