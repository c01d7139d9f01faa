// no unions
#include <metal_stdlib>
using namespace metal;

union U { int i; float f; };

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    U u;
    u.i = N;
    a[0] = u.f;
}
// line 5: Metal has no `union`
