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

// A value's own type: without `const`, `volatile` and its address space.
template <class T>
struct eas_plain {
    typedef T type;
};
#define EAS_PLAIN(qualified)                      \
    template <class T>                            \
    struct eas_plain<qualified> {                 \
        typedef typename eas_plain<T>::type type; \
    };
#if defined(EAS_STRICT)
EAS_PLAIN(EAS_DEVICE T)
EAS_PLAIN(EAS_CONSTANT T)
EAS_PLAIN(EAS_THREADGROUP T)
EAS_PLAIN(EAS_THREAD T)
EAS_PLAIN(const EAS_DEVICE T)
EAS_PLAIN(const EAS_THREADGROUP T)
EAS_PLAIN(const EAS_THREAD T)
#endif
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

}  // namespace metal
