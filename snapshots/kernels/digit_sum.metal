// digit_sum(x: *i32, root: *i32, rounds: *i32, N: i32)
// with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
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

kernel void digit_sum(device const int* x [[buffer(0)]],
                      device int* root [[buffer(1)]],
                      device int* rounds [[buffer(2)]],
                      constant int& N [[buffer(3)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +2
        int n = offs < N ? x[offs] : 0;                     // +6
        int count = 0;
        while (n >= 10) {
            int rest = n;                                   // +8
            n = 0;
            while (rest > 0) {
                const int digit = rest % 10;                // +9
                n = wrap_add(n, digit);
                rest = floor_div(rest - digit, 10);         // +10
            }
            count = wrap_add(count, 1);                     // +12
        }
        root[offs] = n;                                     // +13
        rounds[offs] = count;                               // +14
    }
}
