// Vectors packed into one int: as fractions of its fields' ranges.
#pragma once

namespace metal {

// A field of some bits as a number from 0 to 1, or from -1 to 1, and back.
EAS_FUNC float eas_unorm(uint field, uint bits) { return (float)field / (float)((1u << bits) - 1); }
EAS_FUNC float eas_snorm(uint field, uint bits) {
    const int value = (int)(field << (32 - bits)) >> (32 - bits);
    return __builtin_fmaxf((float)value / (float)((1u << (bits - 1)) - 1), -1.0f);
}
EAS_FUNC uint eas_to_unorm(float x, uint bits) {
    return (uint)__builtin_rintf(saturate(x) * (float)((1u << bits) - 1));
}
EAS_FUNC uint eas_to_snorm(float x, uint bits) {
    const float most = (float)((1u << (bits - 1)) - 1);
    return (uint)(int)__builtin_rintf(clamp(x, -1.0f, 1.0f) * most) & ((1u << bits) - 1);
}

#define EAS_UNPACK4(T, kind)                                                                          \
    EAS_FUNC vec<T, 4> unpack_##kind##4x8_to_##T(uint x) {                                            \
        return vec<T, 4>(eas_##kind(x & 255, 8), eas_##kind(x >> 8 & 255, 8), eas_##kind(x >> 16 & 255, 8), \
                         eas_##kind(x >> 24, 8));                                                     \
    }                                                                                                 \
    EAS_FUNC uint pack_##T##_to_##kind##4x8(vec<T, 4> v) {                                            \
        return eas_to_##kind(v.x, 8) | eas_to_##kind(v.y, 8) << 8 | eas_to_##kind(v.z, 8) << 16 |     \
               eas_to_##kind(v.w, 8) << 24;                                                           \
    }                                                                                                 \
    EAS_FUNC vec<T, 2> unpack_##kind##2x16_to_##T(uint x) {                                           \
        return vec<T, 2>(eas_##kind(x & 65535, 16), eas_##kind(x >> 16, 16));                         \
    }                                                                                                 \
    EAS_FUNC uint pack_##T##_to_##kind##2x16(vec<T, 2> v) {                                           \
        return eas_to_##kind(v.x, 16) | eas_to_##kind(v.y, 16) << 16;                                 \
    }
EAS_UNPACK4(float, unorm)
EAS_UNPACK4(float, snorm)
EAS_UNPACK4(half, unorm)
EAS_UNPACK4(half, snorm)
#undef EAS_UNPACK4

#define EAS_UNPACK(T)                                                                          \
    EAS_FUNC vec<T, 4> unpack_unorm10a2_to_##T(uint x) {                                       \
        return vec<T, 4>(eas_unorm(x & 1023, 10), eas_unorm(x >> 10 & 1023, 10),               \
                         eas_unorm(x >> 20 & 1023, 10), eas_unorm(x >> 30, 2));                \
    }
EAS_UNPACK(float)
EAS_UNPACK(half)
#undef EAS_UNPACK
EAS_FUNC uint pack_float_to_unorm10a2(vec<float, 4> v) {
    return eas_to_unorm(v.x, 10) | eas_to_unorm(v.y, 10) << 10 | eas_to_unorm(v.z, 10) << 20 |
           eas_to_unorm(v.w, 2) << 30;
}

}  // namespace metal
