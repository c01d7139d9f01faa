#include <metal_stdlib>
using namespace metal;

float second(int n);
float third(int n);
float first(int n) { return n < 1 ? 0 : second(n - 1); }
float second(int n) { return third(n - 1); }
float third(int n) { return first(n - 1); }
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = first(N);
}
// line 6: `first` calls itself
