// uint is a type
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    int uint = 1;
    a[0] = float(uint);
}
// line 10: `uint` is a word of Metal, not a name
