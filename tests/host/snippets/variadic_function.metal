#include <metal_stdlib>
using namespace metal;

float first(int n, ...) { return 0; }
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = first(1, 2.0f);
}
// line 4: invalid prototype, variadic arguments are not allowed in OpenCL
