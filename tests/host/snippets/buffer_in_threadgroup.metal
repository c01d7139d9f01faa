// a buffer is in device or constant memory
#include <metal_stdlib>
using namespace metal;

kernel void broken(threadgroup float* a [[buffer(0)]]) { a[0] = 0.0f; }
// line 5: parameter `a` is a buffer, but neither in `device` nor in `constant` memory
