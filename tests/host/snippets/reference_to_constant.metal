#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    constant int& n = N;
    n = 4;
}
// line 9: cannot assign to variable 'n' with const-qualified type 'constant int &'
