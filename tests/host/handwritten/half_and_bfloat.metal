#include <metal_stdlib>
using namespace metal;

kernel void half_and_bfloat(device const half* h [[buffer(0)]],
                            device const bfloat* b [[buffer(1)]],
                            device half* h_out [[buffer(2)]],
                            device bfloat* b_out [[buffer(3)]],
                            uint i [[thread_position_in_grid]]) {
    const half x = h[i];
    h_out[i] = x * x + x;
    b_out[i] = bfloat(float(x) * float(b[i]));
}
