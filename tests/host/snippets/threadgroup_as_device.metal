// threadgroup memory is not in device memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    device float* p = s;
    a[0] = *p;
}
// line 10: cannot initialize a variable of type 'device float *' with an lvalue of type 'threadgroup float[32]'
