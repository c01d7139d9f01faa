// paged_attention(q: *f32, keys: *f32, values: *f32, table: *i32, lengths: *i32, out: *f32, scale: f32)
// with PAGES=4, PAGE=8, D=24 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

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

kernel void paged_attention(device const float* q [[buffer(0)]],
                            device const float* keys [[buffer(1)]],
                            device const float* values [[buffer(2)]],
                            device const int* table [[buffer(3)]],
                            device const int* lengths [[buffer(4)]],
                            device float* out [[buffer(5)]],
                            constant float& scale [[buffer(6)]],
                            uint3 program [[threadgroup_position_in_grid]],
                            uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float query_shared[24];
    threadgroup float weights_shared[8];
    threadgroup float acc_part_shared[192];
    const int t = int(thread_position.x);

    const int sequence = int(program.x);                    // +4
    float acc;                                              // +9
    if (t < 24) {
        query_shared[t] = q[sequence * 24 + t];             // +6
        acc = 0.0f;                                         // +9
    }
    const int length_ = lengths[sequence];                  // +7
    const int n = floor_div(length_, 8);                    // +9
    float total = 0.0f;
    float high = -INFINITY;
    for (int page = 0; page < n + int(n * 8 != length_); ++page) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const int at_base = table[sequence * 4 + page] * 8; // +11
        float scores;
        float high_1 = -INFINITY;                           // +15
        if (t < 8) {
            float total_1 = 0.0f;                           // +14
            const bool is_there = page * 8 + t < length_;   // +12
            for (int d = 0; d < 24; ++d) {                  // +14
                total_1 += (is_there ? keys[(at_base + t) * 24 + d] : 0.0f) * query_shared[d];
            }
            scores = is_there ? total_1 * scale : -INFINITY;
            high_1 = fmax(scores, -INFINITY);               // +15
        }
        high_1 = simd_max(high_1);
        const float higher = fmax(high, high_1);
        float weights;
        if (t < 8) {
            weights = precise::exp(scores - higher);        // +16
            weights_shared[t] = weights;
        }
        float v[6];
        for (int slot = 0; slot < 6; ++slot) {
            const int e = t + 32 * slot;
            const int slot_1 = e / 24;
            v[slot] = page * 8 + slot_1 < length_ ? values[(at_base + slot_1) * 24 + e % 24] : 0.0f; // +18
        }
        const float factor = precise::exp(high - higher);   // +17
        float acc_part;
        if (t < 24) {
            acc_part = acc * factor;                        // +19
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int slot = 0; slot < 6; ++slot) {
            const int e = t + 32 * slot;
            acc_part_shared[e] = weights_shared[e / 24] * v[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float acc_1;
        if (t < 24) {
            float total_1 = 0.0f;
            for (int k = 0; k < 8; ++k) {
                total_1 += acc_part_shared[k * 24 + t];
            }
            acc_1 = acc_part + total_1;
        }
        float total_1 = 0.0f;                               // +20
        if (t < 8) {
            total_1 = weights;
        }
        total_1 = simd_sum(total_1);
        if (t < 24) {
            acc = acc_1;                                    // +21
        }
        total = total * factor + total_1;                   // +20
        high = higher;                                      // +21
    }
    if (t < 24) { out[sequence * 24 + t] = acc / total; }   // +22
}
