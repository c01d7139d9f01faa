// each buffer has an index of its own
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], device float* b [[buffer(0)]]) { a[0] = b[0]; }
// line 5: `buffer(0)` is taken by `a` and `b`
