// kernels are not called
#include <metal_stdlib>
using namespace metal;

kernel void other(device float* a [[buffer(0)]]) { a[0] = 0.0f; }
kernel void broken(device float* a [[buffer(0)]]) { other(a); }
// line 6: `broken` calls the kernel `other`
