#include <metal_stdlib>
using namespace metal;

// What the lanes of a simdgroup and of a quad exchange.
kernel void lanes(device const int* x [[buffer(0)]],
                  device int* out [[buffer(1)]],
                  ushort lane [[thread_index_in_simdgroup]],
                  ushort i [[thread_position_in_grid]],
                  ushort width [[threads_per_simdgroup]],
                  ushort quad_lane [[thread_index_in_quadgroup]]) {
    const int v = x[i];
    device int* row = out + i * 16;
    row[0] = simd_shuffle(v, (lane + 5) % width);
    row[1] = simd_shuffle_xor(v, 3);
    const int next = simd_shuffle_down(v, 1);
    row[2] = lane < 31 ? next : -1;
    row[3] = simd_shuffle_up(v, 2);
    row[4] = simd_prefix_inclusive_sum(v);
    row[5] = simd_prefix_exclusive_sum(v);
    row[6] = simd_broadcast(v, 7) + simd_broadcast_first(v);
    row[7] = int((simd_vote::vote_t)simd_ballot(v > 0));
    row[8] = simd_all(v > -100) * 2 + simd_any(v == 1000000);
    row[9] = quad_sum(v);
    row[10] = quad_broadcast(v, 2) + quad_shuffle_xor(v, 1);
    row[11] = simd_and(v) ^ simd_or(v) ^ simd_xor(v);
    row[12] = simd_min(v) * 1000 + simd_max(v);
    row[13] = simd_is_first() + simd_shuffle_rotate_down(v, 4);
    row[14] = simd_shuffle_and_fill_up(v, 99 + int(quad_lane), 3);
    const float2 pair = simd_sum(float2(v, 1));
    row[15] = int(pair.x + pair.y);
}
