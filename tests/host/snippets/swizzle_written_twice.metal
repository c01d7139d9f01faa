#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    float4 v = float4(1);
    v.xx = float2(1, 2);
    a[i] = v.x;
}
// line 9: static assertion failed due to requirement 'eas_differ<float>(eas_at_x, eas_at_x)': a component is written twice
