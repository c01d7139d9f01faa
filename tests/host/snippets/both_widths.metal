// two names of one thing
#include <metal_stdlib>
using namespace metal;

kernel void broken(device float* a [[buffer(0)]], uint g [[threads_per_simdgroup]],
                   uint h [[thread_execution_width]]) {
    a[0] = float(g + h);
}
// line 5: `thread_execution_width` and `threads_per_simdgroup` are the same
