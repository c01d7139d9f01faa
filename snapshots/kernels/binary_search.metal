// binary_search(ordered: *f32, wanted: *f32, places: *i32, N: i32)
// with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

inline int wrap_neg(int a) {
    return as_type<int>(-as_type<uint>(a));
}

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

// Python's a // b: rounds towards minus infinity; by zero it gives zero.
inline int floor_div(int a, int b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : wrap_neg(a);
    }
    return a / b - int(a % b != 0 && (a < 0) != (b < 0));
}

kernel void binary_search(device const float* ordered [[buffer(0)]],
                          device const float* wanted [[buffer(1)]],
                          device int* places [[buffer(2)]],
                          constant int& N [[buffer(3)]],
                          constant int& ordered_extent_0 [[buffer(4)]],
                          constant int& ordered_stride_0 [[buffer(5)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // +1
    const float key = offs < N ? wanted[offs] : 0.0f;       // +2
    int low = 0;                                            // +4
    int high = ordered_extent_0;
    while (low < high) {
        const int middle = floor_div(wrap_add(low, high), 2); // +5
        const bool test = ordered[wrap_index(middle, ordered_extent_0) * ordered_stride_0] < key; // +6
        low = test ? middle + 1 : low;
        high = test ? high : middle;
    }
    if (offs < N) { places[offs] = low; }                   // +10
}
