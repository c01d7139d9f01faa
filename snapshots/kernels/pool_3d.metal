// pool_3d(x: *f32, y: *f32)
// with SIZE=3, STRIDE=2, PAD=1, MODE=mean, THREADS=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

inline int wrap_sub(int a, int b) {
    return as_type<int>(as_type<uint>(a) - as_type<uint>(b));
}

inline int wrap_mul(int a, int b) {
    return as_type<int>(as_type<uint>(a) * as_type<uint>(b));
}

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

// Rounds towards zero; by zero it gives zero.
inline int trunc_div(int a, int b) {
    return b == 0 ? 0 : b == -1 ? wrap_neg(a) : a / b;
}

// The remainder has the sign of a; by zero it is zero.
inline int trunc_mod(int a, int b) {
    return b == 0 || b == -1 ? 0 : a % b;
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

kernel void pool_3d(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant int& x_extent_0 [[buffer(2)]],
                    constant int& x_extent_1 [[buffer(3)]],
                    constant int& x_extent_2 [[buffer(4)]],
                    constant int& y_extent_0 [[buffer(5)]],
                    constant int& y_extent_1 [[buffer(6)]],
                    constant int& y_extent_2 [[buffer(7)]],
                    constant int& x_stride_0 [[buffer(8)]],
                    constant int& x_stride_1 [[buffer(9)]],
                    constant int& x_stride_2 [[buffer(10)]],
                    constant int& y_stride_0 [[buffer(11)]],
                    constant int& y_stride_1 [[buffer(12)]],
                    constant int& y_stride_2 [[buffer(13)]],
                    uint3 program [[threadgroup_position_in_grid]],
                    uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int place = int(program.x) * 32 + t;              // +3
    if (place < wrap_mul(wrap_mul(y_extent_0, y_extent_1), y_extent_2)) { // +4
        const int rest = trunc_div(place, y_extent_2);      // +6
        const int layer = floor_div(rest, y_extent_1);      // +7
        const int n = wrap_sub(wrap_mul(layer, 2), 1);      // +9
        const int row = floor_mod(rest, y_extent_1);        // +7
        const int n_1 = wrap_sub(wrap_mul(row, 2), 1);      // +12
        const int n_2 = wrap_add(n_1, 3);
        const int column = trunc_mod(place, y_extent_2);    // +6
        const int n_3 = wrap_sub(wrap_mul(column, 2), 1);   // +15
        const int n_4 = wrap_add(n_3, 3);
        float found = 0.0f;                                 // +9
        int count = 0;
        for (int i = n; i < wrap_add(n, 3); ++i) {
            if (!(i >= 0 && i < x_extent_0)) { continue; }  // +10
            for (int j = n_1; j < n_2; ++j) {               // +12
                if (!(j >= 0 && j < x_extent_1)) { continue; } // +13
                for (int k = n_3; k < n_4; ++k) {           // +15
                    if (0 <= k && k < x_extent_2) {         // +16
                        found += x[wrap_index(i, x_extent_0) * x_stride_0 + // +17
                            wrap_index(j, x_extent_1) * x_stride_1 + k * x_stride_2];
                        count = wrap_add(count, 1);         // +18
                    }
                }
            }
        }
        y[wrap_index(layer, y_extent_0) * y_stride_0 + wrap_index(row, y_extent_1) * y_stride_1 + // +19
            wrap_index(column, y_extent_2) * y_stride_2] = found / float(count);
    }
}
