#include <metal_stdlib>
using namespace metal;

// Comparisons of vectors are vectors of bool.
kernel void comparisons(device const float4* x [[buffer(0)]],
                        device const float4* y [[buffer(1)]],
                        device int* out [[buffer(2)]],
                        device float4* chosen [[buffer(3)]],
                        uint i [[thread_position_in_grid]]) {
    const float4 a = x[i], b = y[i];
    const bool4 less = a < b;
    bool4 equal = a == b;
    int n = 0;
    n += any(less) ? 1 : 0;
    n += all(a <= b) ? 2 : 0;
    n += all(!less || !equal) ? 4 : 0;
    n += int(less.x) * 8 + less.y * 16;
    const int4 ones = int4(less);
    const float4 counted = float4(less && b > 0.0);
    n += 100 * (ones.x + ones.y + ones.z + ones.w) + 1000 * int(counted.x + counted.y + counted.z + counted.w);
    n += any(isnan(a)) ? 10000 : 0;
    out[i] = n;
    chosen[i] = select(a, b, less) + select(float4(0), float4(1), a > 0) + (n % 2 ? a : b);
    chosen[i].w = less.w ? 1.0 : -1.0;
}
