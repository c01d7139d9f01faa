// thread_ids(out: *i32) with THREADS=80 · 80 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void thread_ids(device int* out [[buffer(0)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 programs [[threadgroups_per_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    const int t = int(thread_position.x);

    const int place = 3 * (int(program.x) * int(programs.y) * 80 + int(program.y) * 80 + t); // +2
    out[place] = t;                                         // +3
    out[place + 1] = int(lane);                             // +4
    out[place + 2] = int(simdgroup);                        // +5
}
