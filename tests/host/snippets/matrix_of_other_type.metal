// a matrix of floats is loaded from floats
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    simdgroup_float8x8 m;
    simdgroup_load(m, (device half*)a, 8ul);
}
// line 11: no matching function for call to 'simdgroup_load'
