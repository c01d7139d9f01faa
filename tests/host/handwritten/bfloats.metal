#include <metal_stdlib>
using namespace metal;

kernel void bfloats(device const bfloat* a [[buffer(0)]],
                    device const bfloat* b [[buffer(1)]],
                    device bfloat* out [[buffer(2)]],
                    device bfloat2* pairs [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    bfloat x = a[i], y = b[i];
    bfloat sum = x + y;
    sum *= bfloat(2);
    if (x < y && !isnan(x)) {
        sum = -sum;
    }
    out[i] = sum / bfloat(3.0f) - static_cast<bfloat>(exp(float(x) * 0.125));
    pairs[i] = bfloat2(x, y) * bfloat2(sum);
}
