// median_filter(image: *u8, out: *u8) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

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

kernel void median_filter(device const uchar* image [[buffer(0)]],
                          device uchar* out [[buffer(1)]],
                          constant int& image_extent_0 [[buffer(2)]],
                          constant int& image_extent_1 [[buffer(3)]],
                          constant int& image_stride_0 [[buffer(4)]],
                          constant int& image_stride_1 [[buffer(5)]],
                          constant int& out_extent_0 [[buffer(6)]],
                          constant int& out_stride_0 [[buffer(7)]],
                          constant int& out_extent_1 [[buffer(8)]],
                          constant int& out_stride_1 [[buffer(9)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int pixel = int(program.x) * 64 + t;              // +2
    if (pixel < wrap_mul(image_extent_0, image_extent_1)) { // +3
        const int y = trunc_div(pixel, image_extent_1);     // +5
        const int x = trunc_mod(pixel, image_extent_1);
        const int base = wrap_index(min(max(y + 1, 0), image_extent_0 - 1), image_extent_0) * // +7
            image_stride_0;
        const int base_1 = wrap_index(min(max(x + 1, 0), image_extent_1 - 1), image_extent_1) *
            image_stride_1;
        const uchar v = image[base + base_1];
        const int base_2 = wrap_index(min(max(x, 0), image_extent_1 - 1), image_extent_1) *
            image_stride_1;
        const uchar v_1 = image[base + base_2];
        const uchar high = v > v_1 ? v : v_1;               // +12
        const uchar low = v < v_1 ? v : v_1;
        const int base_3 = wrap_index(min(max(x - 1, 0), image_extent_1 - 1), image_extent_1) * // +7
            image_stride_1;
        const uchar v_2 = image[base + base_3];
        const uchar high_1 = low > v_2 ? low : v_2;         // +12
        const uchar high_2 = high > high_1 ? high : high_1;
        const int base_4 = wrap_index(min(max(y, 0), image_extent_0 - 1), image_extent_0) * // +7
            image_stride_0;
        const uchar v_3 = image[base_4 + base_1];
        const uchar v_4 = image[base_4 + base_2];
        const uchar high_3 = v_3 > v_4 ? v_3 : v_4;         // +12
        const uchar low_1 = v_3 < v_4 ? v_3 : v_4;
        const uchar v_5 = image[base_4 + base_3];           // +7
        const uchar high_4 = low_1 > v_5 ? low_1 : v_5;     // +12
        const uchar high_5 = high_3 > high_4 ? high_3 : high_4;
        const uchar low_2 = high_2 < high_5 ? high_2 : high_5;
        const int base_5 = wrap_index(min(max(y - 1, 0), image_extent_0 - 1), image_extent_0) * // +7
            image_stride_0;
        const uchar v_6 = image[base_5 + base_1];
        const uchar v_7 = image[base_5 + base_2];
        const uchar high_6 = v_6 > v_7 ? v_6 : v_7;         // +12
        const uchar low_3 = v_6 < v_7 ? v_6 : v_7;
        const uchar v_8 = image[base_5 + base_3];           // +7
        const uchar high_7 = low_3 > v_8 ? low_3 : v_8;     // +12
        const uchar high_8 = high_6 > high_7 ? high_6 : high_7;
        const uchar low_4 = low_2 < high_8 ? low_2 : high_8;
        const uchar low_5 = high < high_1 ? high : high_1;
        const uchar low_6 = high_3 < high_4 ? high_3 : high_4;
        const uchar high_9 = low_5 > low_6 ? low_5 : low_6;
        const uchar low_7 = low_5 < low_6 ? low_5 : low_6;
        const uchar low_8 = high_6 < high_7 ? high_6 : high_7;
        const uchar high_10 = low_7 > low_8 ? low_7 : low_8;
        const uchar low_9 = high_9 < high_10 ? high_9 : high_10;
        const uchar high_11 = low_4 > low_9 ? low_4 : low_9;
        const uchar low_10 = low_4 < low_9 ? low_4 : low_9;
        const uchar low_11 = low < v_2 ? low : v_2;
        const uchar low_12 = low_1 < v_5 ? low_1 : v_5;
        const uchar low_13 = low_3 < v_8 ? low_3 : v_8;
        const uchar high_12 = low_12 > low_13 ? low_12 : low_13;
        const uchar high_13 = low_11 > high_12 ? low_11 : high_12;
        const uchar high_14 = low_10 > high_13 ? low_10 : high_13;
        out[wrap_index(y, out_extent_0) * out_stride_0 +    // +14
            wrap_index(x, out_extent_1) * out_stride_1] = high_11 < high_14 ? high_11 : high_14;
    }
}
