// a device pointer is no threadgroup pointer
#include <metal_stdlib>
using namespace metal;

float f(threadgroup float* p) { return *p; }

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    a[0] = f(a);
}
// line 12: no matching function for call to 'f'
