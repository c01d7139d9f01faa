// bin_extremes(x: *f32, bins: *i32, low: *f32, high: *f16, N: i32)
// with BLOCK=128 · 128 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// A compare-and-swap loop: Metal updates words of 32 bits only, of which this is a part.
inline half atomic_max_half(device atomic_uint* words, int index, half x) {
    device atomic_uint* word = &words[index / 2];
    const uint shift = uint(index % 2) * 16u;
    uint found = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {
        const half old = as_type<half>(ushort(found >> shift));
        const uint part = uint(as_type<ushort>(half(fmax(old, x)))) << shift;
        const uint rest = found & ~(0xffffu << shift);
        if (atomic_compare_exchange_weak_explicit(word, &found, rest | part,
                                                  memory_order_relaxed, memory_order_relaxed)) {
            return old;
        }
    }
}

// A compare-and-swap loop: Metal has no atomic `min` of `float` here.
inline float atomic_min_float(device atomic_uint* address, float x) {
    uint found = atomic_load_explicit(address, memory_order_relaxed);
    while (true) {
        const float old = as_type<float>(found);
        if (atomic_compare_exchange_weak_explicit(address, &found, as_type<uint>(fmin(old, x)),
                                                  memory_order_relaxed, memory_order_relaxed)) {
            return old;
        }
    }
}

kernel void bin_extremes(device const float* x [[buffer(0)]],
                         device const int* bins [[buffer(1)]],
                         device float* low [[buffer(2)]],
                         device half* high [[buffer(3)]],
                         constant int& N [[buffer(4)]],
                         uint3 program [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 128 + t;                 // +1
    if (i < N) {                                            // +4
        const float v = x[i];                               // +2
        const int bin = bins[i];                            // +3
        atomic_min_float((device atomic_uint*)&low[bin], v); // +4
        atomic_max_half((device atomic_uint*)high, bin, half(v)); // +5
    }
}
