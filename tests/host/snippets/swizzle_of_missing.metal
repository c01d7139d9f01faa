#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    float2 v = float2(1, 2);
    a[i] = v.z;
}
// line 9: no member named 'z' in 'metal::vec<float, 2>'
