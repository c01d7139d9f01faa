#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(-1)]], uint i [[thread_position_in_grid]]) {
    a[i] = 1;
}
// line 4: parameter `a` has the index -1, but buffers go from 0 to 30
