// each position once
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint g [[thread_position_in_grid]],
                   uint h [[thread_position_in_grid]]) {
    a[0] = float(g + h);
}
// line 6: `thread_position_in_grid` is taken by `g` and `h`
