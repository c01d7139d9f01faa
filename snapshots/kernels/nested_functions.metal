// nested_functions(x: *f32, y: *f32, shift: f32, N: i32)
// with BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// Python's a % b: has the sign of b; by zero it gives zero.
inline int floor_mod(int a, int b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

inline float sign_of(float x) {
    return x > 0 ? float(1) : x < 0 ? float(-1) : x == 0 ? float(0) : x;
}

kernel void nested_functions(device const float* x [[buffer(0)]],
                             device float* y [[buffer(1)]],
                             constant float& shift [[buffer(2)]],
                             constant int& N [[buffer(3)]],
                             uint3 program [[threadgroup_position_in_grid]],
                             uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 32 + t;               // +1
    if (offs < N) {                                         // +13
        const float v = x[floor_mod(offs, N)] + x[floor_mod(offs + 1, N)] - shift; // +12
        const float v_1 = (fabs(v) > 2.0f ? 2.0f * sign_of(v) : v) - shift;
        y[offs] = fabs(v_1) > 2.0f ? 2.0f * sign_of(v_1) : v_1; // +13
    }
}
