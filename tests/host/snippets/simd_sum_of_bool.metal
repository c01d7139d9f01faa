// lanes do not sum bools
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    bool q = N > 0;
    a[0] = float(simd_sum(q));
}
// line 11: no matching function for call to 'simd_sum'
