// The range of each type of numbers, arrays, and a value's bits as another type.
#pragma once

namespace metal {

template <class T>
struct numeric_limits {};
#define EAS_LIMITS(T, lowest_value, least, greatest, inf, nan, eps, places)                        \
    template <>                                                                                    \
    struct numeric_limits<T> {                                                                     \
        static constexpr bool is_specialized = true, is_signed = lowest_value < T(0);              \
        static constexpr bool is_integer = __is_integral(T), has_infinity = !is_integer;           \
        static constexpr int digits = places;                                                      \
        static constexpr T lowest() { return lowest_value; }                                       \
        static constexpr T min() { return least; }                                                 \
        static constexpr T max() { return greatest; }                                              \
        static constexpr T infinity() { return inf; }                                              \
        static constexpr T quiet_NaN() { return nan; }                                             \
        static constexpr T epsilon() { return eps; }                                               \
    };
#define EAS_INT_LIMITS(T, least, greatest, places) \
    EAS_LIMITS(T, least, least, greatest, T(0), T(0), T(0), places)
EAS_LIMITS(float, -FLT_MAX, FLT_MIN, FLT_MAX, INFINITY, NAN, FLT_EPSILON, 24)
EAS_LIMITS(half, -HALF_MAX, HALF_MIN, HALF_MAX, half(INFINITY), half(NAN), HALF_EPSILON, 11)
EAS_LIMITS(bfloat, bfloat(-3.38953139e38f), bfloat(FLT_MIN), bfloat(3.38953139e38f),
           bfloat(INFINITY), bfloat(NAN), bfloat(0.0078125f), 8)
EAS_INT_LIMITS(bool, false, true, 1)
EAS_INT_LIMITS(char, CHAR_MIN, CHAR_MAX, 7)
EAS_INT_LIMITS(uchar, 0, UCHAR_MAX, 8)
EAS_INT_LIMITS(short, SHRT_MIN, SHRT_MAX, 15)
EAS_INT_LIMITS(ushort, 0, USHRT_MAX, 16)
EAS_INT_LIMITS(int, INT_MIN, INT_MAX, 31)
EAS_INT_LIMITS(uint, 0, UINT_MAX, 32)
EAS_INT_LIMITS(long, LONG_MIN, LONG_MAX, 63)
EAS_INT_LIMITS(ulong, 0, ULONG_MAX, 64)
#undef EAS_INT_LIMITS
#undef EAS_LIMITS

template <class T, size_t n>
struct array {
    T eas_elements[n];
    constexpr T& operator[](size_t i) { return eas_elements[i]; }
    constexpr const T& operator[](size_t i) const { return eas_elements[i]; }
    static constexpr size_t size() { return n; }
};

template <class T, class U>
EAS_FUNC T as_type(U x) {
    static_assert(sizeof(T) == sizeof(U), "as_type: the types differ in size");
    T result;
    __builtin_memcpy(&result, &x, sizeof(T));
    return result;
}

}  // namespace metal
using metal::as_type;
