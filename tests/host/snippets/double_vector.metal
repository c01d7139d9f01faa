#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    double4 v = double4(1);
    a[i] = v.x;
}
// line 8: use of undeclared identifier 'double4'; did you mean 'double'?
