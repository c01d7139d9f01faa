#include <metal_stdlib>
using namespace metal;

kernel void broken(thread float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}
// line 4: parameter `a` is a buffer, but neither in `device` nor in `constant` memory
