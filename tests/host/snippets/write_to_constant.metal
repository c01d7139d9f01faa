// constant memory is written to
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    N = 3;
}
// line 10: cannot assign to variable 'N' with const-qualified type 'constant int &'
