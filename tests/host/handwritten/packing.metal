#include <metal_stdlib>
using namespace metal;

kernel void packing(device const float4* colors [[buffer(0)]],
                    device uint* packed [[buffer(1)]],
                    device float4* unpacked [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    const float4 c = colors[i];
    packed[4 * i] = pack_float_to_unorm4x8(c);
    packed[4 * i + 1] = pack_float_to_snorm4x8(c.bgra);
    packed[4 * i + 2] = pack_float_to_unorm2x16(c.xy);
    packed[4 * i + 3] = as_type<uint>(half2(c.zw));
    unpacked[2 * i] = unpack_unorm4x8_to_float(packed[4 * i]);
    unpacked[2 * i + 1].xy = unpack_snorm2x16_to_float(packed[4 * i + 1]);
    unpacked[2 * i + 1].zw = float2(as_type<half2>(packed[4 * i + 3]));
}
