#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    switch (N) { case 1: a[i] = 2; break; case 1: a[i] = 3; }
}
// line 8: duplicate case value '1'
