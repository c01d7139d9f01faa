// retention(q: *f32, k: *f32, v: *f32, out: *f32, T: i32, decay: f32)
// with CHUNK=16, DK=16, DV=8 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

// Adds the product of a 16x16 and a 16x8 tile to a simdgroup's 2x1 fragments.
inline void multiply_16x16x8(thread simdgroup_float8x8* sum,
                             threadgroup const float* left,
                             threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[160 * i + k], 20);
        }
        simdgroup_float8x8 b;
        simdgroup_load(b, &right[k * 12], 12);
        for (int i = 0; i < 2; ++i) {
            simdgroup_multiply_accumulate(sum[i], a[i], b, sum[i]);
        }
    }
}

// Adds the product of a 16x16 and a 16x16 tile to a simdgroup's 2x2 fragments.
inline void multiply_16x16x16(thread simdgroup_float8x8* sum,
                              threadgroup const float* left,
                              threadgroup const float* right) {
    for (int k = 0; k < 16; k += 8) {
        simdgroup_float8x8 a[2];
        for (int i = 0; i < 2; ++i) {
            simdgroup_load(a[i], &left[160 * i + k], 20);
        }
        for (int j = 0; j < 2; ++j) {
            simdgroup_float8x8 b;
            simdgroup_load(b, &right[k * 20 + 8 * j], 20);
            for (int i = 0; i < 2; ++i) {
                simdgroup_multiply_accumulate(sum[i * 2 + j], a[i], b, sum[i * 2 + j]);
            }
        }
    }
}

kernel void retention(device const float* q [[buffer(0)]],
                      device const float* k [[buffer(1)]],
                      device const float* v [[buffer(2)]],
                      device float* out [[buffer(3)]],
                      constant int& T [[buffer(4)]],
                      constant float& decay [[buffer(5)]],
                      uint3 program [[threadgroup_position_in_grid]],
                      uint3 thread_position [[thread_position_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float faded_part_shared[16];
    threadgroup float x_tile[320];
    threadgroup float state_tile[192];
    threadgroup float y_tile[320];
    threadgroup float block_shared[256];
    threadgroup float z_tile[192];
    threadgroup float left_tile[320];
    threadgroup float factor_tile[20];
    threadgroup float block_shared_1[128];
    threadgroup float faded_tile[320];
    threadgroup float state_part_shared[128];
    const int t = int(thread_position.x);

    float weights[8];
    for (int slot = 0; slot < 8; ++slot) {
        const int e = t + 32 * slot;
        const int past = e / 16 - e % 16;                   // +3
        weights[slot] = past >= 0 ? precise::pow(decay, float(past)) : 0.0f; // +4
    }
    float block;
    if (t < 16) {
        block = precise::pow(decay, float(t + 1));          // +12
        faded_part_shared[t] = precise::pow(decay, float(15 - t)); // +14
    }
    float state[4];                                         // +10
    for (int slot = 0; slot < 4; ++slot) {
        state[slot] = 0.0f;
    }
    const int head = int(program.x);                        // +1
    const int base = head * T * 16;                         // +6
    const int base_1 = head * T * 8;                        // +8
    const float state_part_part = precise::pow(decay, 16.0f); // +15
    int rows = 0;                                           // +10
    int values = 0;
    int columns = 0;
    int results = 0;
    for (long n = 0; n < T; n += 16) {
        float x[8];
        float y[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            const int i = e / 16;
            const int i_1 = e % 16;
            x[slot] = i + rows >= 0 && i + rows < T ? q[base + ((i + rows) * 16 + i_1)] : 0.0f; // +11
            y[slot] = i_1 + columns >= 0 && i_1 + columns < T
                ? k[base + (i + (i_1 + columns) * 16)] : 0.0f;
        }
        float z[4];
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            const int n_1 = e / 8 + values;
            z[slot] = n_1 >= 0 && n_1 < T ? v[base_1 + (n_1 * 8 + e % 8)] : 0.0f;
        }
        simdgroup_float8x8 state_1[2];                      // +12
        for (int n_1 = 0; n_1 < 2; ++n_1) {
            state_1[n_1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            x_tile[e / 16 * 20 + e % 16] = x[slot];
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            state_tile[e / 8 * 12 + e % 8] = state[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x8(state_1, x_tile, state_tile);
        simdgroup_float8x8 sum[4];                          // +13
        for (int n_1 = 0; n_1 < 4; ++n_1) {
            sum[n_1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            y_tile[e / 16 * 20 + e % 16] = y[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x16(sum, x_tile, y_tile);
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                simdgroup_store(sum[i * 2 + j], &block_shared[i * 128 + 8 * j], 16);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float block_1[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            block_1[slot] = block_shared[e] * weights[slot];
        }
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            z_tile[e / 8 * 12 + e % 8] = z[slot];
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            left_tile[e / 16 * 20 + e % 16] = block_1[slot];
        }
        if (t < 16) { factor_tile[t] = block; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < 2; ++i) {
            state_1[i].thread_elements() *= factor_tile[8 * i + int(lane) / 16 * 4 +
                int(lane) / 2 % 4];
        }
        multiply_16x16x8(state_1, left_tile, z_tile);
        for (int i = 0; i < 2; ++i) {                       // +12
            simdgroup_store(state_1[i], &block_shared_1[i * 64], 8);
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        for (int e = t; e < 128; e += 32) {
            const int n_1 = e / 8 + results;                // +13
            if (n_1 >= 0 && n_1 < T) {
                out[base_1 + (n_1 * 8 + e % 8)] = block_shared_1[e];
            }
        }
        float faded[8];
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            faded[slot] = y[slot] * faded_part_shared[e % 16]; // +14
        }
        simdgroup_float8x8 sum_1[2];                        // +15
        for (int n_1 = 0; n_1 < 2; ++n_1) {
            sum_1[n_1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
        float state_part[4];
        for (int slot = 0; slot < 4; ++slot) {
            state_part[slot] = state[slot] * state_part_part;
        }
        for (int slot = 0; slot < 8; ++slot) {
            const int e = t + 32 * slot;
            faded_tile[e / 16 * 20 + e % 16] = faded[slot];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply_16x16x8(sum_1, faded_tile, z_tile);
        for (int i = 0; i < 2; ++i) {
            simdgroup_store(sum_1[i], &state_part_shared[i * 64], 8);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int slot = 0; slot < 4; ++slot) {
            const int e = t + 32 * slot;
            state[slot] = state_part_shared[e] + state_part[slot];
        }
        rows += 16;                                         // +16
        values += 16;
        columns += 16;                                      // +17
        results += 16;
    }
}
