// a float does not go into an int in braces
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float s[32];
    int n{b[0]};
    a[0] = float(n);
}
// line 10: type 'device float' cannot be narrowed to 'int' in initializer list
