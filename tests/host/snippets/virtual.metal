// no virtual functions
#include <metal_stdlib>
using namespace metal;

struct B {
    virtual float f() { return 1.0f; }
};

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    B x;
    a[0] = x.f();
}
// line 6: Metal has no `virtual`
