#include <metal_stdlib>
using namespace metal;

struct Base { int x; };
struct Derived : Base {};
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = dynamic_cast<Derived*>((Base*)0) ? 1 : 0;
}
// line 10: Metal has no `dynamic_cast`
