#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    int4 v = float4(1, 2, 3, 4);
    a[i] = v.x;
}
// line 8: no viable conversion from 'thread vec<float, [...]>' to 'thread vec<int, [...]>'
