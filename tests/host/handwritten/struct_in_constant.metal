#include <metal_stdlib>
using namespace metal;

struct Params {
    int offset;
    float scale;
    int table[4];
};

static inline float apply(float x, constant Params& p, uint i) {
    return p.scale * x + float(p.offset) + float(p.table[i % 4]);
}

kernel void struct_in_constant(const device float* x [[buffer(0)]],
                               device float* y [[buffer(1)]],
                               constant Params& params [[buffer(2)]],
                               uint i [[thread_position_in_grid]]) {
    y[i] = apply(x[i], params, i);
}
