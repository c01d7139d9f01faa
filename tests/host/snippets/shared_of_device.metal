// a threadgroup buffer is in threadgroup memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[threadgroup(0)]]) { a[0] = 0.0f; }
// line 5: parameter `a` is a threadgroup buffer, but of the type `device float *`
