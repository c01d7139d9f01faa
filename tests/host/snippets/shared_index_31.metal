#include <metal_stdlib>
using namespace metal;

kernel void broken(threadgroup float* a [[threadgroup(31)]], uint i [[thread_index_in_threadgroup]]) {
    a[i] = 1;
}
// line 4: parameter `a` has the index 31, but buffers go from 0 to 30
