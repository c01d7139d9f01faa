// a lane is one number
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint3 g [[thread_index_in_simdgroup]]) { a[0] = float(g.x); }
// line 5: parameter `g` must be a uint or ushort, not `uint3`
