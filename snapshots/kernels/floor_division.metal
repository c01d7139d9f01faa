// floor_division(a: *i32, b: *i32, quotients: *i32, remainders: *i32, N: i32)
// with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

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

kernel void floor_division(device const int* a [[buffer(0)]],
                           device const int* b [[buffer(1)]],
                           device int* quotients [[buffer(2)]],
                           device int* remainders [[buffer(3)]],
                           constant int& N [[buffer(4)]],
                           uint3 program [[threadgroup_position_in_grid]],
                           uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    if (offs < N) {                                         // +4
        const int x = a[offs];                              // +3
        const int y = b[offs];
        quotients[offs] = floor_div(x, y);                  // +4
        remainders[offs] = floor_mod(x, y);                 // +5
    }
}
