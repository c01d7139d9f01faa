#include <metal_stdlib>
using namespace metal;

kernel void broken(threadgroup float a [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) {
}
// line 4: parameter `a` is a threadgroup buffer, but of the type `threadgroup float`
