#include <metal_stdlib>
using namespace metal;

struct Transforms {
    float4x4 projection;
    float3x3 rotation;
};

kernel void matrices(constant Transforms& t [[buffer(0)]],
                     device const float4* points [[buffer(1)]],
                     device float4* projected [[buffer(2)]],
                     device float* scalars [[buffer(3)]],
                     uint i [[thread_position_in_grid]]) {
    const float4 p = points[i];
    float4x4 m = t.projection;
    m[3] += float4(1, 2, 3, 4);
    m[0][1] = 5;
    float4 q = m * p;
    q.xyz = t.rotation * q.xyz;
    q += p * transpose(m) - (2.0 * m * p);
    projected[i] = q;
    const float2x2 small(1, 2, 3, p.x);
    const float2x3 wide(float3(1, 0, p.y), float3(0, 1, p.z));
    const float3x2 product = small * transpose(wide);
    const half2x2 rounded = half2x2(small);
    scalars[i] = determinant(small) + product[2].y + determinant(t.rotation) + float(rounded[1][1]) + determinant(m);
}
