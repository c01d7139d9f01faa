// segmented_scan(x: *i32, begins: *bool, y: *i32, N: i32)
// with BLOCK=512 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void segmented_scan(device const int* x [[buffer(0)]],
                           device const bool* begins [[buffer(1)]],
                           device int* y [[buffer(2)]],
                           constant int& N [[buffer(3)]],
                           uint3 thread_position [[thread_position_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]]) {
    threadgroup int sums_partial[16];
    threadgroup bool combined_partial[16];
    const int t = int(thread_position.x);

    int sums[2];                                            // +4
    bool running[2];
    for (int slot = 0; slot < 2; ++slot) {
        const int i = t + 256 * slot;
        int sums_1 = i < N ? x[i] : 0;
        bool running_1 = i < N ? begins[i] : true;
        for (ushort lane_delta = 1; lane_delta < 32; lane_delta *= 2) {
            const int other_sums = simd_shuffle_up(sums_1, lane_delta);
            const bool other_running = bool(simd_shuffle_up(ushort(running_1), lane_delta));
            if (int(lane) >= lane_delta) {
                sums_1 = running_1 ? sums_1 : wrap_add(other_sums, sums_1); // add_unless_new+1
                running_1 = other_running || running_1;
            }
        }
        if (lane == 31) {                                   // +4
            sums_partial[i / 32] = sums_1;
            combined_partial[i / 32] = running_1;
        }
        sums[slot] = sums_1;
        running[slot] = running_1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int slot = 0; slot < 2; ++slot) {
        const int i = t + 256 * slot;
        int prefix = sums_partial[min(lane, 15u)];
        bool prefix_1 = combined_partial[min(lane, 15u)];
        for (ushort lane_delta = 1; lane_delta < 16; lane_delta *= 2) {
            const int other_prefix = simd_shuffle_up(prefix, lane_delta);
            const bool other_prefix_1 = bool(simd_shuffle_up(ushort(prefix_1), lane_delta));
            if (int(lane) >= lane_delta) {
                prefix = prefix_1 ? prefix : wrap_add(other_prefix, prefix); // add_unless_new+1
                prefix_1 = other_prefix_1 || prefix_1;
            }
        }
        const int carry_in = simd_shuffle(prefix, ushort(max(i / 32 - 1, 0)));
        const bool carry_in_1 = bool(simd_shuffle(ushort(prefix_1), ushort(max(i / 32 - 1, 0))));
        if (i > int(lane)) {                                // +4
            sums[slot] = running[slot] ? sums[slot] : wrap_add(carry_in, sums[slot]); // add_unless_new+1
            running[slot] = carry_in_1 || running[slot];
        }
        if (i < N) { y[i] = sums[slot]; }                   // +5
    }
}
