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

kernel void collatz(device int* out [[buffer(0)]],
                    constant int& N [[buffer(1)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 128 + t;              // +1
    int n = offs + 1;                                       // +4
    int steps = 0;
    while (n != 1) {
        n = floor_mod(n, 2) == 0 ? floor_div(n, 2) : wrap_add(wrap_mul(3, n), 1); // +5
        steps = wrap_add(steps, 1);                         // +6
    }
    if (offs < N) { out[offs] = steps; }                    // +7
}
