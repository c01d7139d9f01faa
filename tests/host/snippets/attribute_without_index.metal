#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer]], uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}
// line 4: parameter `a` has the unknown attribute `buffer`
