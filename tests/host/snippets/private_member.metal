#include <metal_stdlib>
using namespace metal;

class Hidden { float x; };
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    Hidden h;
    a[i] = h.x;
}
// line 10: 'x' is a private member of 'Hidden'
