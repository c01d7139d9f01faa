// a position without an attribute
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint g) { a[0] = float(g); }
// line 5: parameter `g` has no attribute
