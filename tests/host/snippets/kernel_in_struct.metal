#include <metal_stdlib>
using namespace metal;

struct S {
    kernel void broken(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        a[i] = 1;
    }
};
// line 5: kernel functions cannot be class members
