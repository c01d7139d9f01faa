// a constant needs its value
#include <metal_stdlib>
using namespace metal;

constant int g;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = float(g);
}
// line 5: default initialization of an object of const type 'constant int'
