#include <metal_stdlib>
using namespace metal;

template <typename T>
T load(const T* p, uint i) { return p[i]; }
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    a[i] = load(b, i);
}
// line 5: `T*` does not say in which memory
