#include <metal_stdlib>
using namespace metal;

inline void order(threadgroup float& a, threadgroup float& b, bool ascending) {
    if ((a > b) == ascending) {
        const float kept = a;
        a = b;
        b = kept;
    }
}

kernel void bitonic_sort(device float* data [[buffer(0)]],
                         ushort t [[thread_position_in_threadgroup]]) {
    threadgroup float shared[256];
    shared[t] = data[t];
    for (ushort size = 2; size <= 256; size <<= 1) {
        for (ushort stride = size >> 1; stride > 0; stride >>= 1) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            const ushort other = t ^ stride;
            if (other > t) {
                order(shared[t], shared[other], (t & size) == 0);
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    data[t] = shared[t];
}
