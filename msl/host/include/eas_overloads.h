// Which of Metal's overloads a call means: functions are declared once, for all types they take.
#pragma once

namespace metal {

// Functions of floats take `half` and `float`, never `bfloat`; those of ints no `bool`.
template <class T>
constexpr bool eas_is_real = is_same_v<eas_element<T>, float> || is_same_v<eas_element<T>, half>;
template <class T>
constexpr bool eas_is_whole = is_integral_v<eas_element<T>> && !is_same_v<eas_element<T>, bool>;

// The argument that the others convert to: a vector before a number, a float before an int.
template <class T>
constexpr int eas_rank = eas_is_vector<T> ? 2 : eas_is_real<T> ? 1 : 0;
template <class A, class... Rest>
struct eas_leader {
    typedef A type;
};
template <class A, class B, class... Rest>
struct eas_leader<A, B, Rest...> : eas_leader<conditional_t<(eas_rank<B> > eas_rank<A>), B, A>, Rest...> {};
template <class... A>
using eas_led = typename eas_leader<eas_value<A>...>::type;

// A number becomes a vector. An int becomes a float only where there is no overload for ints.
template <class L, class A>
constexpr bool eas_is_spread = eas_is_vector<L> && eas_fits<eas_element<L>, A>;
template <class L, class A>
constexpr bool eas_follows = is_same_v<L, eas_value<A>> || eas_is_spread<L, A>;
template <class L, class A>
constexpr bool eas_follows_float = eas_follows<L, A> || (!eas_is_vector<L> && is_integral_v<A>);

template <class... A>
using eas_real = enable_if_t<(eas_is_real<eas_led<A...>> && (eas_follows_float<eas_led<A...>, A> && ...)),
                             eas_led<A...>>;
template <class... A>
using eas_whole = enable_if_t<(eas_is_whole<eas_led<A...>> && (eas_follows<eas_led<A...>, A> && ...)),
                              eas_led<A...>>;
template <class... A>
using eas_number = enable_if_t<((eas_is_real<eas_led<A...>> || eas_is_whole<eas_led<A...>>)&&(
                                   eas_follows<eas_led<A...>, A> && ...)),
                               eas_led<A...>>;
template <class... A>
using eas_any_type = enable_if_t<(eas_follows<eas_led<A...>, A> && ...), eas_led<A...>>;

// `T`, or as many of them as `V` has elements.
template <class V, class T>
struct eas_shaped {
    typedef T type;
};
template <class U, int n, class T>
struct eas_shaped<vec<U, n>, T> {
    typedef vec<T, n> type;
};
template <class V, class T>
using eas_like = typename eas_shaped<eas_value<V>, T>::type;

}  // namespace metal
