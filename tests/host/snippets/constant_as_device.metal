// a constant reference is not in device memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    device const int* p = &N;
    a[0] = float(*p);
}
// line 10: cannot initialize a variable of type 'device int const *' with an rvalue of type 'constant int *'
