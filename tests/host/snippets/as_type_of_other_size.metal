// as_type keeps the size
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = as_type<float>(short(1));
}
// line 10: static assertion failed due to requirement 'sizeof(float) == sizeof(short)': as_type: the types differ in size
