// digit_sum(x: *i32, root: *i32, rounds: *i32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
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

kernel void digit_sum(device const int* x [[buffer(0)]],
                      device int* root [[buffer(1)]],
                      device int* rounds [[buffer(2)]],
                      constant int& N [[buffer(3)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // digit_sum.py:12
    if (!(offs >= N)) {                                     // digit_sum.py:13
        int n = offs < N ? x[offs] : 0;                     // digit_sum.py:17
        int count = 0;
        while (n >= 10) {
            int total = 0;                                  // digit_sum.py:19
            int rest = n;
            while (rest > 0) {
                const int n_1 = rest % 10;                  // digit_sum.py:20
                total = wrap_add(total, n_1);               // digit_sum.py:21
                rest = floor_div(rest - n_1, 10);
            }
            n = total;                                      // digit_sum.py:23
            count = wrap_add(count, 1);
        }
        root[offs] = n;                                     // digit_sum.py:24
        rounds[offs] = count;                               // digit_sum.py:25
    }
}
