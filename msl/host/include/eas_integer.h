// Functions of ints.
#pragma once

namespace metal {

// The upper half of a product.
template <class T>
EAS_FUNC T eas_high(T x, T y) {
    if constexpr (sizeof(T) < 8) {
        typedef conditional_t<is_signed_v<T>, long, ulong> Wide;
        return (T)((Wide)x * (Wide)y >> 8 * sizeof(T));
    } else {
        const ulong a = (ulong)x >> 32, b = (uint)x, c = (ulong)y >> 32, d = (uint)y;
        const ulong middle = a * d + (b * d >> 32), other = b * c + (uint)middle;
        const ulong high = a * c + (middle >> 32) + (other >> 32);
        return (T)(high - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
    }
}

#define EAS_INT(name, expression)                                                          \
    template <class A>                                                                     \
    EAS_FUNC eas_whole<A> name(A a) {                                                      \
        typedef eas_element<A> T;                                                          \
        constexpr int bits = 8 * sizeof(T);                                                \
        return eas_each<eas_whole<A>>([](T x) EAS_LAMBDA { return (T)(expression); }, a);  \
    }
#define EAS_INTS(name, ...)                                                         \
    template <class A, class B>                                                     \
    EAS_FUNC eas_whole<A, B> name(A a, B b) {                                       \
        typedef eas_whole<A, B> R;                                                  \
        typedef eas_element<R> T;                                                   \
        constexpr int bits = 8 * sizeof(T);                                         \
        return eas_each<R>([](T x, T y) EAS_LAMBDA -> T { __VA_ARGS__ }, a, b);     \
    }
#define EAS_UNSIGNED(x) ((ulong)(x) & (~0ul >> (64 - bits)))

EAS_INT(popcount, __builtin_popcountl(EAS_UNSIGNED(x)))
EAS_INT(clz, x == 0 ? bits : __builtin_clzl(EAS_UNSIGNED(x)) - 64 + bits)
EAS_INT(ctz, x == 0 ? bits : __builtin_ctzl(EAS_UNSIGNED(x)))
EAS_INT(reverse_bits, __builtin_bitreverse64(EAS_UNSIGNED(x)) >> (64 - bits))
EAS_INTS(rotate, const int left = (int)(y & (bits - 1)); const ulong all = EAS_UNSIGNED(x);
         return (T)(left == 0 ? all : all << left | all >> (bits - left));)
EAS_INTS(addsat, T sum; if (!__builtin_add_overflow(x, y, &sum)) { return sum; }
         return y < 0 ? numeric_limits<T>::min() : numeric_limits<T>::max();)
EAS_INTS(subsat, T difference; if (!__builtin_sub_overflow(x, y, &difference)) { return difference; }
         return x < y ? numeric_limits<T>::min() : numeric_limits<T>::max();)
EAS_INTS(hadd, return (T)((x & y) + ((x ^ y) >> 1));)
EAS_INTS(rhadd, return (T)((x | y) - ((x ^ y) >> 1));)
EAS_INTS(mulhi, return eas_high(x, y);)
EAS_INTS(mul24, return (T)((ulong)x * (ulong)y);)
#undef EAS_UNSIGNED
#undef EAS_INTS
#undef EAS_INT

template <class T>
using eas_unsigned = conditional_t<sizeof(T) == 1, uchar,
                                   conditional_t<sizeof(T) == 2, ushort, conditional_t<sizeof(T) == 4, uint, ulong>>>;
template <class A, class B>
EAS_FUNC eas_like<eas_whole<A, B>, eas_unsigned<eas_element<eas_whole<A, B>>>> absdiff(A a, B b) {
    typedef eas_element<eas_whole<A, B>> T;
    typedef eas_like<eas_whole<A, B>, eas_unsigned<T>> R;
    return eas_each<R>(
        [](T x, T y) EAS_LAMBDA { return (eas_unsigned<T>)(x > y ? (ulong)x - (ulong)y : (ulong)y - (ulong)x); }, a,
        b);
}
template <class A, class B, class C>
EAS_FUNC eas_whole<A, B, C> madhi(A a, B b, C c) {
    return mulhi(a, b) + c;
}
template <class A, class B, class C>
EAS_FUNC eas_whole<A, B, C> mad24(A a, B b, C c) {
    return mul24(a, b) + c;
}
template <class A, class B, class C>
EAS_FUNC eas_whole<A, B, C> madsat(A a, B b, C c) {
    typedef eas_whole<A, B, C> R;
    typedef eas_element<R> T;
    return eas_each<R>(
        [](T x, T y, T z) EAS_LAMBDA -> T {
            T result;
            if (!__builtin_mul_overflow(x, y, &result)) {
                return addsat(result, z);
            }
            return (x < 0) != (y < 0) ? numeric_limits<T>::min() : numeric_limits<T>::max();
        },
        a, b, c);
}
template <class A>
EAS_FUNC eas_whole<A> extract_bits(A a, uint offset, uint count) {
    typedef eas_element<A> T;
    const uint above = 8 * sizeof(T) - count;
    return eas_each<eas_whole<A>>(
        [=](T x) EAS_LAMBDA {
            return count == 0 ? T(0) : T((T)((ulong)x << (above - offset)) >> above);
        },
        a);
}
template <class A, class B>
EAS_FUNC eas_whole<A, B> insert_bits(A base, B insert, uint offset, uint count) {
    typedef eas_whole<A, B> R;
    typedef eas_element<R> T;
    const ulong mask = count == 0 ? 0 : (~0ul >> (64 - count)) << offset;
    return eas_each<R>(
        [=](T x, T y) EAS_LAMBDA { return T(((ulong)x & ~mask) | (((ulong)y << offset) & mask)); }, base,
        insert);
}

}  // namespace metal
