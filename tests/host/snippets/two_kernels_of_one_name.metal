#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}

kernel void broken(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = 2;
}
// line 8: redefinition of 'broken'
