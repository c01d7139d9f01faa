#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// One simdgroup computes one 8x8 tile of c = a b.
kernel void tiled_matmul(device const float* a [[buffer(0)]],
                         device const float* b [[buffer(1)]],
                         device float* c [[buffer(2)]],
                         constant uint& K [[buffer(3)]],
                         uint3 group [[threadgroup_position_in_grid]],
                         uint3 groups [[threadgroups_per_grid]]) {
    const uint columns = groups.x * 8;
    const uint row = group.y * 8;
    const uint column = group.x * 8;
    simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint k = 0; k < K; k += 8) {
        simdgroup_float8x8 left;
        simdgroup_float8x8 right;
        simdgroup_load(left, a + row * K + k, K);
        simdgroup_load(right, b + k * columns + column, columns);
        simdgroup_multiply_accumulate(sum, left, right, sum);
    }
    simdgroup_store(sum, c + row * columns + column, columns);
}
