// stream_compaction(x: *f32, y: *f32, kept: *i32, N: i32)
// with BLOCK=2048 · 512 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void stream_compaction(device const float* x [[buffer(0)]],
                              device float* y [[buffer(1)]],
                              device int* kept [[buffer(2)]],
                              constant int& N [[buffer(3)]],
                              uint3 thread_position [[thread_position_in_threadgroup]],
                              uint simdgroup [[simdgroup_index_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]]) {
    threadgroup int combined_partial[64];
    threadgroup int total_partial[16];
    const int t = int(thread_position.x);

    float v[4];
    bool is_kept[4];
    int running[4];                                         // +4
    for (int slot = 0; slot < 4; ++slot) {
        const int i = t + 512 * slot;
        v[slot] = i < N ? x[i] : 0.0f;                      // +2
        is_kept[slot] = v[slot] > 0.0f;                     // +3
        int running_1 = int(is_kept[slot]);                 // +4
        running_1 = as_type<int>(simd_prefix_inclusive_sum(as_type<uint>(running_1)));
        if (lane == 31) { combined_partial[i / 32] = running_1; }
        running[slot] = running_1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        int carry = 0;
        for (int k = 0; k < 2; ++k) {
            const int scanned_part = k * 32 + int(lane);
            int scanned = combined_partial[scanned_part];
            for (ushort lane_delta = 1; lane_delta < 32; lane_delta *= 2) {
                const int other_scanned = simd_shuffle_up(scanned, lane_delta);
                if (int(lane) >= lane_delta) {
                    scanned = wrap_add(other_scanned, scanned);
                }
            }
            if (k > 0) {
                scanned = wrap_add(carry, scanned);
            }
            combined_partial[scanned_part] = scanned;
            carry = simd_shuffle(scanned, 31);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int total = 0;                                          // +6
    for (int slot = 0; slot < 4; ++slot) {
        const int e = t + 512 * slot;
        if (e > int(lane)) {                                // +4
            running[slot] = wrap_add(combined_partial[e / 32 - 1], running[slot]);
        }
        if (is_kept[slot]) { y[running[slot] - 1] = v[slot]; } // +5
        total += int(is_kept[slot]);                        // +6
    }
    total = simd_sum(total);
    if (lane == 0) { total_partial[simdgroup] = total; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = simd_sum(lane < 16 ? total_partial[lane] : 0);
    if (t == 0) { kept[0] = total; }
}
