#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    auto f = [&](float x) { return x + a[i]; };
    a[i] = f(b[i]);
}
// line 8: functions without a name need Metal 3.2
