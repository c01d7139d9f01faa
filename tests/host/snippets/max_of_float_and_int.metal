// max of a float and an int is ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = max(b[0], 1);
}
// line 10: no matching function for call to 'max'
