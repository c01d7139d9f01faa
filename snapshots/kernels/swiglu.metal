// swiglu(x: *f16, y: *f32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// 1 / (1 + exp(-x)), without an intermediate overflow.
inline float sigmoid_of(float x) {
    const float exponential = precise::exp(-fabs(x));
    const float denominator = 1.0f + exponential;
    const float error = exponential - (denominator - 1.0f);
    const float quotient = (x < 0.0f ? exponential : 1.0f) / denominator;
    return fma(-quotient, error / denominator, quotient);
}

kernel void swiglu(device const half* x [[buffer(0)]],
                   device float* y [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint3 program [[threadgroup_position_in_grid]],
                   uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.y) * 64 + t;                  // +2
    if (i < N) {                                            // +5
        const int row = int(program.x);                     // +1
        const float gate = float(x[row * 2 * N + i]);       // +3
        y[row * N + i] = gate * sigmoid_of(gate) * float(x[row * 2 * N + N + i]); // +5
    }
}
