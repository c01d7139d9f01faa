#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    static_assert(sizeof(float4) == 12, "packed");
    a[i] = 1;
}
// line 8: static assertion failed due to requirement 'sizeof(metal::vec<float, 4>) == 12': packed
