#include <metal_stdlib>
using namespace metal;

// Vectors of ints of all sizes: sums wrap, shifts and conversions are those of each element.
kernel void sizes(device const char4* c [[buffer(0)]],
                  device const uchar4* u [[buffer(1)]],
                  device const ushort2* s [[buffer(2)]],
                  device const long2* l [[buffer(3)]],
                  device char4* c_out [[buffer(4)]],
                  device uchar4* u_out [[buffer(5)]],
                  device ushort2* s_out [[buffer(6)]],
                  device long2* l_out [[buffer(7)]],
                  device float4* f_out [[buffer(8)]],
                  ushort i [[thread_position_in_grid]]) {
    c_out[i] = c[i] + char4(u[i]) * char(3);
    u_out[i] = (u[i] << 1 | u[i] >> 7) ^ uchar4(0x0f);
    s_out[i] = s[i].yx * s[i] + ushort2(7, 9);
    l_out[i] = l[i] / 3 - l[i] % 5 + long2(ulong2(s[i]));
    f_out[i] = float4(c[i]) / 127.0 + float4(u[i].wzyx) * (1.0 / 255);
    f_out[i].xz = -f_out[i].zx;
}
