#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    float4 v = float4(1);
    a[i] = v.xg.x;
}
// line 9: no member named 'xg' in 'metal::vec<float, 4>'
