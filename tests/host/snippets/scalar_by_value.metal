// a buffer is a pointer or a reference
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], int n [[buffer(1)]]) { a[0] = float(n); }
// line 5: parameter `n` is a buffer, but neither a pointer nor a reference
