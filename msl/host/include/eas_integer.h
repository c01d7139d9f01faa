// Functions of ints.
#pragma once

namespace metal {

#define EAS_INT(name, parameters, ...)                \
    template <class T>                                \
    inline eas_whole<T> name parameters {             \
        return eas_each<T>(__VA_ARGS__);              \
    }
#define EAS_BITS (8 * (int)sizeof(a))
#define EAS_UNSIGNED(x) ((ulong)(x) & (~0ul >> (64 - EAS_BITS)))

EAS_INT(popcount, (T x), [](auto a) { return (decltype(a))__builtin_popcountl(EAS_UNSIGNED(a)); }, x)
EAS_INT(clz, (T x),
        [](auto a) { return decltype(a)(a == 0 ? EAS_BITS : __builtin_clzl(EAS_UNSIGNED(a)) - 64 + EAS_BITS); },
        x)
EAS_INT(ctz, (T x), [](auto a) { return decltype(a)(a == 0 ? EAS_BITS : __builtin_ctzl(EAS_UNSIGNED(a))); },
        x)
EAS_INT(reverse_bits, (T x),
        [](auto a) { return decltype(a)(__builtin_bitreverse64(EAS_UNSIGNED(a)) >> (64 - EAS_BITS)); }, x)
EAS_INT(rotate, (T x, T n),
        [](auto a, auto b) {
            const int left = (int)(b & (EAS_BITS - 1));
            const ulong bits = EAS_UNSIGNED(a);
            return decltype(a)(left == 0 ? bits : bits << left | bits >> (EAS_BITS - left));
        },
        x, n)
EAS_INT(absdiff, (T x, T y), [](auto a, auto b) { return decltype(a)(a > b ? (ulong)a - b : (ulong)b - a); }, x, y)
EAS_INT(addsat, (T x, T y),
        [](auto a, auto b) {
            decltype(a) sum;
            if (!__builtin_add_overflow(a, b, &sum)) {
                return sum;
            }
            return b < 0 ? numeric_limits<decltype(a)>::min() : numeric_limits<decltype(a)>::max();
        },
        x, y)
EAS_INT(subsat, (T x, T y),
        [](auto a, auto b) {
            decltype(a) difference;
            if (!__builtin_sub_overflow(a, b, &difference)) {
                return difference;
            }
            return a < b ? numeric_limits<decltype(a)>::min() : numeric_limits<decltype(a)>::max();
        },
        x, y)
EAS_INT(hadd, (T x, T y), [](auto a, auto b) { return decltype(a)(((__int128)a + b) >> 1); }, x, y)
EAS_INT(rhadd, (T x, T y), [](auto a, auto b) { return decltype(a)(((__int128)a + b + 1) >> 1); }, x, y)
EAS_INT(mulhi, (T x, T y),
        [](auto a, auto b) {
            if constexpr (is_signed_v<decltype(a)>) {
                return decltype(a)(((__int128)a * b) >> EAS_BITS);
            } else {
                return decltype(a)(((unsigned __int128)a * b) >> EAS_BITS);
            }
        },
        x, y)
template <class T>
inline eas_whole<T> madhi(T a, T b, T c) {
    return mulhi(a, b) + c;
}
template <class T>
inline eas_whole<T> mad24(T a, T b, T c) {
    return a * b + c;
}
template <class T>
inline eas_whole<T> mul24(T a, T b) {
    return a * b;
}
template <class T>
inline enable_if_t<eas_is_whole<T> && eas_shape<T>::length == 1, T> extract_bits(T a, uint offset, uint bits) {
    return bits == 0 ? T(0) : T(T(a << (EAS_BITS - offset - bits)) >> (EAS_BITS - bits));
}
template <class T>
inline enable_if_t<eas_is_whole<T> && eas_shape<T>::length == 1, T> insert_bits(T a, T insert, uint offset, uint bits) {
    const ulong mask = bits == 0 ? 0 : (~0ul >> (64 - bits)) << offset;
    return T(((ulong)a & ~mask) | (((ulong)insert << offset) & mask));
}
#undef EAS_UNSIGNED
#undef EAS_BITS
#undef EAS_INT

}  // namespace metal
