#include <metal_stdlib>
using namespace metal;

template <typename T, int N>
inline T total(thread const T (&values)[N]) {
    T sum = T(0);
    for (int i = 0; i < N; ++i) {
        sum += values[i];
    }
    return sum;
}

// Rows of 512 elements, 32 lanes with four float4 each.
kernel void layer_norm(device const float4* x [[buffer(0)]],
                       device const float4* weight [[buffer(1)]],
                       device half4* y [[buffer(2)]],
                       constant float& eps [[buffer(3)]],
                       uint row [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    float4 v[4];
    for (uint k = 0; k < 4; ++k) {
        v[k] = x[row * 128 + k * 32 + lane];
    }
    const float4 sums = simd_sum(total(v));
    const float mean = (sums.x + sums.y + sums.z + sums.w) / 512;
    float squares = 0;
    for (uint k = 0; k < 4; ++k) {
        v[k] -= mean;
        squares += dot(v[k], v[k]);
    }
    const float inverse = rsqrt(simd_sum(squares) / 512 + eps);
    for (uint k = 0; k < 4; ++k) {
        y[row * 128 + k * 32 + lane] = (half4)(v[k] * inverse * weight[k * 32 + lane]);
    }
}
