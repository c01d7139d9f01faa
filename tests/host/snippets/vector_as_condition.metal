#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    float4 v = float4(b[i]);
    if (v > 0) { a[i] = 1; }
}
// line 9: value of type 'eas_truth_of<metal::vec<float, 4>>' (aka 'vec<bool, eas_shape<metal::vec<float, 4>>::length>') is not contextually convertible to 'bool'
