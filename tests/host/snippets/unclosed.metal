// a brace is missing
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]]) { a[0] = 0.0f;
// line 0: line 5: `{` is never closed
