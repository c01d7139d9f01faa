#include <metal_stdlib>
using namespace metal;

#define QK4_0 32
typedef struct {
    half d;
    uint8_t qs[QK4_0 / 2];
} block_q4_0;

inline float block_q_n_dot_y(device const block_q4_0* qb, thread const float* yl) {
    const float d = qb->d;
    float2 acc = 0.f;
    for (int i = 0; i < QK4_0 / 2; ++i) {
        acc[0] += yl[i] * ((qb->qs[i] & 0x0F) - 8);
        acc[1] += yl[i + 16] * ((qb->qs[i] >> 4) - 8);
    }
    return d * (acc[0] + acc[1]);
}

// y = W x with rows of 4-bit blocks; one simdgroup per row.
kernel void quantized(device const void* src0,
                      device const float* src1,
                      device float* dst,
                      constant int64_t& ne00,
                      uint3 tgpig [[threadgroup_position_in_grid]],
                      ushort tiisg [[thread_index_in_simdgroup]]) {
    const int nb = ne00 / QK4_0;
    device const block_q4_0* x = (device const block_q4_0*)src0 + tgpig.x * nb;
    float sumf = 0.f;
    for (int ib = tiisg; ib < nb; ib += 32) {
        float yl[QK4_0];
        for (int i = 0; i < QK4_0; i += 4) {
            *(thread float4*)(yl + i) = *(device const float4*)(src1 + ib * QK4_0 + i);
        }
        sumf += block_q_n_dot_y(x + ib, yl);
    }
    const float tot = simd_sum(sumf);
    if (tiisg == 0) {
        dst[tgpig.x] = tot;
    }
}
