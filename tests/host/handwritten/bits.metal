#include <metal_stdlib>
using namespace metal;

kernel void bits(device const uint* x [[buffer(0)]],
                 device const int* y [[buffer(1)]],
                 device uint* out [[buffer(2)]],
                 device int* signed_out [[buffer(3)]],
                 device ulong* wide [[buffer(4)]],
                 uint i [[thread_position_in_grid]]) {
    const uint u = x[i];
    const int s = y[i];
    device uint* row = out + i * 8;
    row[0] = popcount(u);
    row[1] = clz(u) * 100 + ctz(u);
    row[2] = reverse_bits(u);
    row[3] = rotate(u, 7u);
    row[4] = mulhi(u, 0x9E3779B9u);
    row[5] = extract_bits(u, 4, 9);
    row[6] = insert_bits(u, 0x5Au, 8, 8);
    row[7] = as_type<uint>(as_type<float>(u & 0x3fffffffu));
    device int* other = signed_out + i * 6;
    other[0] = mulhi(s, 123456789);
    other[1] = extract_bits(s, 3, 6);
    other[2] = addsat(s, 2000000000) / 2 + subsat(s, 2000000000) / 2;
    other[3] = max3(s, 5, -7) ^ min3(s, 3, 9) ^ median3(s, 0, 100);
    other[4] = abs(s) ^ int(absdiff(s, 17) & 0xffu);
    other[5] = int(popcount(ushort(u))) + clz(uchar(u)) + hadd(s, 7) + clamp(s, -9, 9);
    wide[i] = mulhi(ulong(u) << 31 | 12345, 0xdeadbeefcafef00dul) + popcount(ulong4(u, 1, 2, 3)).x;
}
