// no buffers of pointers
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* device* a [[buffer(0)]]) { a[0][0] = 0.0f; }
// line 5: parameter `a` is a buffer of pointers
