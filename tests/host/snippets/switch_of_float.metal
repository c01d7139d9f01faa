#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    switch (b[i]) { case 1: a[i] = 2; }
}
// line 8: statement requires expression of integer type ('float' invalid)
