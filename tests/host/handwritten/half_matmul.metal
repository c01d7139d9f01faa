#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define TILE 16

// c = a * transpose(b) + 1 on the diagonal of each 8x8 block; tiles are staged in threadgroup memory.
[[kernel, max_total_threads_per_threadgroup(128)]] void half_matmul(
    const device half* a [[buffer(0)]],
    const device half* b [[buffer(1)]],
    device float* c [[buffer(2)]],
    constant int& K [[buffer(3)]],
    constant int& N [[buffer(4)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint tiitg [[thread_index_in_threadgroup]],
    uint sgitg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half left[TILE * TILE];
    threadgroup half right[TILE * TILE];
    const uint row = tgid.y * TILE, column = tgid.x * TILE;
    const uint2 block(sgitg % 2, sgitg / 2);

    simdgroup_float8x8 sum = simdgroup_float8x8(1.0f);
    for (int k = 0; k < K; k += TILE) {
        for (uint e = tiitg; e < TILE * TILE; e += 128) {
            left[e] = a[(row + e / TILE) * K + k + e % TILE];
            right[e] = b[(column + e / TILE) * K + k + e % TILE];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int inner = 0; inner < TILE; inner += 8) {
            simdgroup_half8x8 x, y;
            simdgroup_load(x, left + block.y * 8 * TILE + inner, TILE);
            simdgroup_load(y, right, TILE, ulong2(inner, block.x * 8), true);
            simdgroup_multiply_accumulate(sum, x, y, sum);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum.thread_elements()[0] *= 2;
    sum.thread_elements()[1] *= 2;
    simdgroup_store(sum, c + (row + block.y * 8) * N + column + block.x * 8, N);
}
