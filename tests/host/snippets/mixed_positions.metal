// positions have one width
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint g [[thread_position_in_grid]],
                   uint3 t [[thread_position_in_threadgroup]]) {
    a[0] = float(g + t.x);
}
// line 5: positions are of different widths: uint g, uint3 t
