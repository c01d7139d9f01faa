#include <metal_stdlib>
using namespace metal;

constant bool has_bias [[function_constant(0)]];
constant uint unrolled [[function_constant(1)]];
constant float slope [[function_constant(2)]];
constant float used_slope = is_function_constant_defined(slope) ? slope : 0.25f;
constant bool is_wide = unrolled > 1;

kernel void function_constants(device const float* x [[buffer(0)]],
                               device const float* bias [[buffer(1), function_constant(has_bias)]],
                               device float* y [[buffer(2)]],
                               uint i [[thread_position_in_grid]]) {
    for (uint k = 0; k < unrolled; ++k) {
        const uint at = i * unrolled + k;
        float v = x[at];
        if (has_bias) {
            v += bias[k];
        }
        y[at] = v < 0 ? v * used_slope : is_wide ? v * 3 : v;
    }
}
