#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint4 i [[thread_position_in_grid]]) {
    a[i.x] = 1;
}
// line 4: parameter `i` must be a uint or ushort (or 2 or 3 of them), not `uint4`
