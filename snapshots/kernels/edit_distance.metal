// edit_distance(a: *u8, b: *u8, out: *i32) with THREADS=48 · 48 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

// Python's index: a negative one counts from the end.
inline int wrap_index(int a, int extent) {
    return a < 0 ? a + extent : a;
}

// Python's a % b: has the sign of b; by zero it gives zero.
inline int floor_mod(int a, int b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

kernel void edit_distance(device const uchar* a [[buffer(0)]],
                          device const uchar* b [[buffer(1)]],
                          device int* out [[buffer(2)]],
                          constant int& a_extent_0 [[buffer(3)]],
                          constant int& b_extent_0 [[buffer(4)]],
                          constant int& a_stride_0 [[buffer(5)]],
                          constant int& b_stride_0 [[buffer(6)]],
                          constant int& out_extent_0 [[buffer(7)]],
                          constant int& out_stride_0 [[buffer(8)]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup int table[144];
    const int t = int(thread_position.x);

    const int n = wrap_add(a_extent_0, b_extent_0);         // +4
    for (int diagonal = 0; diagonal < wrap_add(n, 1); ++diagonal) {
        const int column = diagonal - t;                    // +6
        if (t <= a_extent_0 && 0 <= column && column <= b_extent_0) { // +7
            const int now = diagonal % 3;                   // +5
            if (t == 0 || column == 0) {                    // +8
                table[now * 48 + t] = diagonal;             // +9
            } else {
                const int base = floor_mod(diagonal + 2, 3) * 48; // +13
                const int base_1 = wrap_index(t - 1, 48);
                const int change = a[wrap_index(t - 1, a_extent_0) * // +11
                    a_stride_0] == b[wrap_index(column - 1, b_extent_0) * b_stride_0] ? 0 : 1;
                const int n_1 = wrap_add(table[(diagonal + 1) % 3 * 48 + base_1], change); // +13
                const int n_2 = wrap_add(table[base + t], 1);
                const int n_3 = wrap_add(table[base + base_1], 1);
                const int n_4 = n_2 < n_3 ? n_2 : n_3;      // +12
                table[now * 48 + t] = n_1 < n_4 ? n_1 : n_4;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // +15
    }
    if (t == a_extent_0) {                                  // +16
        out[0] = table[floor_mod(n, 3) * 48 + t];           // +17
    }
}
