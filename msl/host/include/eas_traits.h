// Metal's type traits, and the element and the length of a vector.
#pragma once

namespace metal {

template <class T, T v>
struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    constexpr operator T() const { return v; }
};
template <bool b>
using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <bool b, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
    typedef T type;
};
template <bool b, class T = void>
using enable_if_t = typename enable_if<b, T>::type;

template <bool b, class T, class U>
struct conditional {
    typedef T type;
};
template <class T, class U>
struct conditional<false, T, U> {
    typedef U type;
};
template <bool b, class T, class U>
using conditional_t = typename conditional<b, T, U>::type;

template <class T, class U>
constexpr bool is_same_v = __is_same(T, U);
template <class T, class U>
struct is_same : bool_constant<is_same_v<T, U>> {};

#define EAS_REMOVE(name, qualified)       \
    template <class T>                    \
    struct name {                         \
        typedef T type;                   \
    };                                    \
    template <class T>                    \
    struct name<qualified> {              \
        typedef T type;                   \
    };                                    \
    template <class T>                    \
    using name##_t = typename name<T>::type;
EAS_REMOVE(remove_const, const T)
EAS_REMOVE(remove_volatile, volatile T)
EAS_REMOVE(remove_reference, T&)
EAS_REMOVE(remove_pointer, T*)
#undef EAS_REMOVE

// A value's own type: without `const`, `volatile` and the address space of where it is kept.
template <class T>
struct eas_plain {
    typedef T type;
};
#define EAS_PLAIN(qualified)     \
    template <class T>           \
    struct eas_plain<qualified> {    \
        typedef typename eas_plain<T>::type type; \
    };
EAS_PLAIN(EAS_DEVICE T)
EAS_PLAIN(EAS_CONSTANT T)
EAS_PLAIN(EAS_THREADGROUP T)
EAS_PLAIN(const EAS_DEVICE T)
EAS_PLAIN(const EAS_CONSTANT T)
EAS_PLAIN(const EAS_THREADGROUP T)
EAS_PLAIN(const T)
EAS_PLAIN(volatile T)
#undef EAS_PLAIN
template <class T>
using remove_cv_t = typename eas_plain<T>::type;

template <class T>
constexpr bool is_integral_v = __is_integral(T);
template <class T>
constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>;
template <class T>
constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
constexpr bool is_signed_v = __is_signed(T);
template <class T>
constexpr bool is_unsigned_v = __is_unsigned(T);
template <class T, class U>
constexpr bool is_convertible_v = __is_convertible_to(T, U);
template <class T>
struct is_integral : bool_constant<is_integral_v<T>> {};
template <class T>
struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <class T>
struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <class T>
struct is_signed : bool_constant<is_signed_v<T>> {};
template <class T>
struct is_unsigned : bool_constant<is_unsigned_v<T>> {};

template <class T, int n>
using vec = T __attribute__((ext_vector_type(n)));

template <class T>
struct eas_shape {
    typedef T element;
    static constexpr int length = 1;
};
template <class T>
struct eas_shape<vec<T, 2>> {
    typedef T element;
    static constexpr int length = 2;
};
template <class T>
struct eas_shape<vec<T, 3>> {
    typedef T element;
    static constexpr int length = 3;
};
template <class T>
struct eas_shape<vec<T, 4>> {
    typedef T element;
    static constexpr int length = 4;
};
template <class T>
using eas_element = typename eas_shape<T>::element;

// The overload sets of Metal: functions of floats take `half` and `float`, never `bfloat` or ints.
template <class T>
constexpr bool eas_is_real = is_same_v<eas_element<T>, float> || is_same_v<eas_element<T>, half>;
template <class T>
constexpr bool eas_is_whole = is_integral_v<eas_element<T>> && !is_same_v<eas_element<T>, bool>;
template <class T>
using eas_real = enable_if_t<eas_is_real<T>, T>;
template <class T>
using eas_whole = enable_if_t<eas_is_whole<T>, T>;
template <class T>
using eas_number = enable_if_t<eas_is_real<T> || eas_is_whole<T>, T>;

// Applies a function of scalars to each element.
template <class R, class F, class T, class... Rest>
inline __attribute__((always_inline)) R eas_each(F f, T x, Rest... rest) {
    if constexpr (eas_shape<T>::length == 1) {
        return f(x, rest...);
    } else {
        R result;
        for (int i = 0; i < eas_shape<T>::length; ++i) {
            result[i] = f(x[i], rest[i]...);
        }
        return result;
    }
}

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
inline T as_type(U x) {
    static_assert(sizeof(T) == sizeof(U), "as_type: the types differ in size");
    return __builtin_bit_cast(T, x);
}

}  // namespace metal
using metal::as_type;
