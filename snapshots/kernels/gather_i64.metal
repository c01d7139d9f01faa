// gather_i64(table: *f32, indices: *i64, out: *f32, N: i64)
// with BLOCK=50 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void gather_i64(device const float* table [[buffer(0)]],
                       device const long* indices [[buffer(1)]],
                       device float* out [[buffer(2)]],
                       constant long& N [[buffer(3)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    if (t < 50) {
        const long offs = long(int(program.x) * 50) + long(t); // +1
        if (offs < N) { out[offs] = table[indices[offs]]; } // +3
    }
}
