// batched_dot(q: *f16, k: *f16, out: *f32, M: i32, N: i32, D: i32)
// with HEADS=4, TILE=16, BD=8 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// Adds the product of a 16x8 and a 8x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_4x16x8x16_nt(thread simdgroup_float8x8* sum,
                                  threadgroup const half* left,
                                  threadgroup const half* right,
                                  int batch) {
    for (int z = 0; z < 2; ++z) {
        simdgroup_half8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[((batch + z) * 16 + 8 * i) * 16], 16);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_half8x8 b;
            simdgroup_load(b, &right[((batch + z) * 16 + 8 * j) * 16], 16, ulong2(0), true);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[(z * 2 + i) * 2 + j], a[i], b,
                    sum[(z * 2 + i) * 2 + j]);
            }
        }
    }
}

kernel void batched_dot(device const half* q [[buffer(0)]],
                        device const half* k [[buffer(1)]],
                        device float* out [[buffer(2)]],
                        constant int& M [[buffer(3)]],
                        constant int& N [[buffer(4)]],
                        constant int& D [[buffer(5)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup half queries_tile[2][1024];
    threadgroup half keys_tile[2][1024];
    threadgroup float scores_shared[1024];
    const int t = int(thread_position.x);

    simdgroup_float8x8 scores[8];                           // +10
    for (int n = 0; n < 8; ++n) {
        scores[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    int stage = 0;
    const int batch = int(simdgroup) * 2;
    for (long start = 0; start < D; start += 8) {           // +6
        half queries[8];
        half keys[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            const int i = e / 128;
            const int j = e / 8 % 16;
            const int row = int(program.x) * 16 + j;        // +2
            const int d = int(start) + e % 8;               // +7
            queries[slot] = row < M && d < D ? q[(i * M + row) * D + d] : 0.0h; // +8
            const int key = int(program.y) * 16 + j;        // +3
            keys[slot] = key < N && d < D ? k[(i * N + key) * D + d] : 0.0h; // +9
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stage > 0) {                                    // +10
            multiply_4x16x8x16_nt(scores, queries_tile[(stage - 1) % 2],
                keys_tile[(stage - 1) % 2], batch);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 64 * slot;
            const int place = e / 8 * 16 + e % 8;
            queries_tile[stage % 2][place] = queries[slot];
            keys_tile[stage % 2][place] = keys[slot];
        }
        stage += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (stage > 0) {
        multiply_4x16x8x16_nt(scores, queries_tile[(stage - 1) % 2], keys_tile[(stage - 1) % 2],
            batch);
    }
    for (int z = 0; z < 2; ++z) {
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(scores[(z * 2 + i) * 2 + j],
                    &scores_shared[((batch + z) * 16 + 8 * i) * 16 + 8 * j], 16);
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int e = t; e < 1024; e += 64) {
        const int row = int(program.x) * 16 + e / 16 % 16;  // +2
        const int column = int(program.y) * 16 + e % 16;    // +4
        if (row < M && column < N) {                        // +11
            out[(e / 256 * M + row) * N + column] = scores_shared[e];
        }
    }
}
