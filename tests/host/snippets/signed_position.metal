// positions are unsigned
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], int g [[thread_position_in_grid]]) { a[0] = float(g); }
// line 5: parameter `g` must be a uint or ushort (or 2 or 3 of them), not `int`
