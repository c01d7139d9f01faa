// a misspelt attribute
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint g [[thread_position_in_gird]]) { a[0] = float(g); }
// line 5: parameter `g` has the unknown attribute `thread_position_in_gird`
