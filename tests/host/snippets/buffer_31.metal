// buffers go from 0 to 30
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(31)]]) { a[0] = 0.0f; }
// line 5: parameter `a` has the index 31, but buffers go from 0 to 30
