// connected_components(image: *bool, names: *i32)
// with THREADS=32 · 32 threads per program · Metal 2.3
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

kernel void connected_components(device const bool* image [[buffer(0)]],
                                 device int* names [[buffer(1)]],
                                 constant int& image_extent_0 [[buffer(2)]],
                                 constant int& image_extent_1 [[buffer(3)]],
                                 constant int& image_stride_0 [[buffer(4)]],
                                 constant int& image_stride_1 [[buffer(5)]],
                                 constant int& names_extent_0 [[buffer(6)]],
                                 constant int& names_stride_0 [[buffer(7)]],
                                 uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int has_changed[1];
    const int t = int(thread_position.x);

    const int n = wrap_mul(image_extent_0, image_extent_1); // +4
    for (long pixel = t; pixel < n; pixel += 32) {
        names[int(pixel) * names_stride_0] = image[wrap_index(trunc_div(int(pixel), // +5
            image_extent_1), image_extent_0) * image_stride_0 +
            wrap_index(trunc_mod(int(pixel), image_extent_1), image_extent_1) * image_stride_1]
            ? int(pixel) : -1;
    }
    while (true) {                                          // +6
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +7
        if (t == 0) { has_changed[0] = 0; }                 // +8
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +10
        for (long pixel = t; pixel < n; pixel += 32) {      // +11
            const int y = trunc_div(int(pixel), image_extent_1); // +12
            const int base = wrap_index(y, image_extent_0) * image_stride_0; // +13
            const int x = trunc_mod(int(pixel), image_extent_1); // +12
            const int base_1 = wrap_index(x, image_extent_1) * image_stride_1; // +13
            if (!image[base + base_1]) { continue; }
            const int n_1 = wrap_add(y, -1);                // +16
            const bool test = 0 <= x && x < image_extent_1;
            if ((0 <= n_1 && n_1 < image_extent_0 && test)) {
                if (image[n_1 * image_stride_0 + base_1]) { // +18
                    const int name = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel) + -1 * image_extent_1], int(pixel), memory_order_relaxed); // +20
                    const int old = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel)], name, memory_order_relaxed); // +21
                    if (old > name) {
                        atomic_exchange_explicit((threadgroup atomic_int*)&has_changed[0], 1, // +22
                            memory_order_relaxed);
                    }
                }
            }
            const int n_2 = wrap_add(y, 1);                 // +16
            if ((0 <= n_2 && n_2 < image_extent_0 && test)) {
                if (image[n_2 * image_stride_0 + base_1]) { // +18
                    const int name = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel) + image_extent_1], int(pixel), memory_order_relaxed); // +20
                    const int old = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel)], name, memory_order_relaxed); // +21
                    if (old > name) {
                        atomic_exchange_explicit((threadgroup atomic_int*)&has_changed[0], 1, // +22
                            memory_order_relaxed);
                    }
                }
            }
            const bool test_1 = 0 <= y && y < image_extent_0; // +16
            const int n_3 = wrap_add(x, -1);
            if ((test_1 && 0 <= n_3 && n_3 < image_extent_1)) {
                if (image[base + n_3 * image_stride_1]) {   // +18
                    const int name = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel) - 1], int(pixel), memory_order_relaxed); // +20
                    const int old = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel)], name, memory_order_relaxed); // +21
                    if (old > name) {
                        atomic_exchange_explicit((threadgroup atomic_int*)&has_changed[0], 1, // +22
                            memory_order_relaxed);
                    }
                }
            }
            const int n_4 = wrap_add(x, 1);                 // +16
            if ((test_1 && 0 <= n_4 && n_4 < image_extent_1)) {
                if (image[base + n_4 * image_stride_1]) {   // +18
                    const int name = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel) + 1], int(pixel), memory_order_relaxed); // +20
                    const int old = atomic_fetch_min_explicit((device atomic_int*)&names[int(pixel)], name, memory_order_relaxed); // +21
                    if (old > name) {
                        atomic_exchange_explicit((threadgroup atomic_int*)&has_changed[0], 1, // +22
                            memory_order_relaxed);
                    }
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); // +23
        if (has_changed[0] == 0) { break; }                 // +24
    }
}
