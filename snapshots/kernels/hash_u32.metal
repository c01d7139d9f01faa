// hash_u32(keys: *u32, out: *u32, seed: u32, N: i32)
// with BLOCK=256 · 256 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void hash_u32(device const uint* keys [[buffer(0)]],
                     device uint* out [[buffer(1)]],
                     constant uint& seed [[buffer(2)]],
                     constant int& N [[buffer(3)]],
                     uint3 program [[threadgroup_position_in_grid]],
                     uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 256 + t;              // +1
    if (offs < N) {                                         // +2
        const uint h = keys[offs] ^ seed;
        const uint h_1 = (h ^ (h >> 16u)) * 2246822507u;    // mix+2
        const uint h_2 = (h_1 ^ (h_1 >> 13u)) * 3266489909u; // mix+4
        out[offs] = h_2 ^ (h_2 >> 16u);                     // +2
    }
}
