#include <metal_stdlib>
using namespace metal;

struct Shape {
    uint rows;
    uint columns;
    float scale;
};

// One row per threadgroup, reduced in memory that the caller gives.
kernel void shared_argument(device const float* data [[buffer(0)]],
                            device float* sums [[buffer(1)]],
                            constant Shape* shape [[buffer(2)]],
                            threadgroup float* shared [[threadgroup(0)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint2 tid [[thread_position_in_threadgroup]],
                            uint2 size [[threads_per_threadgroup]]) {
    const Shape s = *shape;
    float sum = 0;
    for (uint column = tid.x; column < s.columns; column += size.x) {
        sum += data[group.y * s.columns + column];
    }
    shared[tid.x] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = size.x / 2; half_size > 0; half_size /= 2) {
        if (tid.x < half_size) shared[tid.x] += shared[tid.x + half_size];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tid.x == 0) sums[group.y] = shared[0] * s.scale;
}
