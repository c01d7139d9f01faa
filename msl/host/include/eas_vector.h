// Vectors as classes: clang's own cannot be made by `float4(a, b, c, d)`, compare to ints instead of
// bools, and are accessed as a whole where a kernel asks for one component.
#pragma once

namespace metal {

template <class T, int n>
struct vec;
template <class T, int n>
struct packed_vec;

// Components: `x` and `r` are the same one, and so are `xy` and `rg`.
constexpr int eas_at_x = 0, eas_at_y = 1, eas_at_z = 2, eas_at_w = 3;

template <class T, class... Places>
constexpr bool eas_differ(Places... places) {
    int seen = 0, count = 0;
    ((seen |= 1 << places, ++count), ...);
    return __builtin_popcount(seen) == count;
}

#define EAS_SWIZZLE(length, name, color, parts, places, puts)                    \
    EAS_FUNC vec<T, length> eas_get_##name() const { return vec<T, length> parts; } \
    EAS_FUNC vec<T, length> eas_put_##name(vec<T, length> v) {                   \
        static_assert(eas_differ<T> places, "a component is written twice");     \
        puts return v;                                                           \
    }                                                                            \
    __declspec(property(get = eas_get_##name, put = eas_put_##name)) vec<T, length> name, color;
#define EAS_PUT(a, b) a = v.b;
#define EAS_SWIZZLE2(a, A, b, B) \
    EAS_SWIZZLE(2, a##b, A##B, (a, b), (eas_at_##a, eas_at_##b), EAS_PUT(a, x) EAS_PUT(b, y))
#define EAS_SWIZZLE3(a, A, b, B, c, C)                                             \
    EAS_SWIZZLE(3, a##b##c, A##B##C, (a, b, c), (eas_at_##a, eas_at_##b, eas_at_##c), \
                EAS_PUT(a, x) EAS_PUT(b, y) EAS_PUT(c, z))
#define EAS_SWIZZLE4(a, A, b, B, c, C, d, D)                                       \
    EAS_SWIZZLE(4, a##b##c##d, A##B##C##D, (a, b, c, d),                           \
                (eas_at_##a, eas_at_##b, eas_at_##c, eas_at_##d),                  \
                EAS_PUT(a, x) EAS_PUT(b, y) EAS_PUT(c, z) EAS_PUT(d, w))
// Each of the first two, three or four components, behind those that were chosen before. A macro
// does not expand in itself, so there is one for each place.
#define EAS_FIRST2(next, M) next(M, x, r) next(M, y, g)
#define EAS_FIRST3(next, M) EAS_FIRST2(next, M) next(M, z, b)
#define EAS_FIRST4(next, M) EAS_FIRST3(next, M) next(M, w, a)
#define EAS_SECOND2(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define EAS_SECOND3(M, ...) EAS_SECOND2(M, __VA_ARGS__) M(__VA_ARGS__, z, b)
#define EAS_SECOND4(M, ...) EAS_SECOND3(M, __VA_ARGS__) M(__VA_ARGS__, w, a)
#define EAS_THIRD2(M, ...) EAS_SECOND2(M, __VA_ARGS__, x, r) EAS_SECOND2(M, __VA_ARGS__, y, g)
#define EAS_THIRD3(M, ...) \
    EAS_SECOND3(M, __VA_ARGS__, x, r) EAS_SECOND3(M, __VA_ARGS__, y, g) EAS_SECOND3(M, __VA_ARGS__, z, b)
#define EAS_THIRD4(M, ...)                                              \
    EAS_SECOND4(M, __VA_ARGS__, x, r) EAS_SECOND4(M, __VA_ARGS__, y, g) \
    EAS_SECOND4(M, __VA_ARGS__, z, b) EAS_SECOND4(M, __VA_ARGS__, w, a)
#define EAS_FOURTH2(M, ...) EAS_THIRD2(M, __VA_ARGS__, x, r) EAS_THIRD2(M, __VA_ARGS__, y, g)
#define EAS_FOURTH3(M, ...) \
    EAS_THIRD3(M, __VA_ARGS__, x, r) EAS_THIRD3(M, __VA_ARGS__, y, g) EAS_THIRD3(M, __VA_ARGS__, z, b)
#define EAS_FOURTH4(M, ...)                                           \
    EAS_THIRD4(M, __VA_ARGS__, x, r) EAS_THIRD4(M, __VA_ARGS__, y, g) \
    EAS_THIRD4(M, __VA_ARGS__, z, b) EAS_THIRD4(M, __VA_ARGS__, w, a)
#define EAS_SWIZZLES(n)                   \
    EAS_FIRST##n(EAS_SECOND##n, EAS_SWIZZLE2) \
    EAS_FIRST##n(EAS_THIRD##n, EAS_SWIZZLE3)  \
    EAS_FIRST##n(EAS_FOURTH##n, EAS_SWIZZLE4)

template <class T, int n>
struct eas_parts;
template <class T>
struct eas_parts<T, 2> {
    union { T x, r; };
    union { T y, g; };
    eas_parts() = default;
    EAS_FUNC constexpr eas_parts(T all) : x(all), y(all) {}
    EAS_FUNC constexpr eas_parts(T first, T second) : x(first), y(second) {}
    EAS_SWIZZLES(2)
};
template <class T>
struct eas_parts<T, 3> {
    union { T x, r; };
    union { T y, g; };
    union { T z, b; };
    eas_parts() = default;
    EAS_FUNC constexpr eas_parts(T all) : x(all), y(all), z(all) {}
    EAS_FUNC constexpr eas_parts(T first, T second, T third) : x(first), y(second), z(third) {}
    EAS_SWIZZLES(3)
};
template <class T>
struct eas_parts<T, 4> {
    union { T x, r; };
    union { T y, g; };
    union { T z, b; };
    union { T w, a; };
    eas_parts() = default;
    EAS_FUNC constexpr eas_parts(T all) : x(all), y(all), z(all), w(all) {}
    EAS_FUNC constexpr eas_parts(T first, T second, T third, T fourth)
        : x(first), y(second), z(third), w(fourth) {}
    EAS_SWIZZLES(4)
};
#undef EAS_SWIZZLES
#undef EAS_SWIZZLE
#undef EAS_PUT

// The element, the length and the unpacked type of a type that may be a vector.
template <class T>
struct eas_shape {
    typedef T element;
    typedef T value;
    static constexpr int length = 1;
    static constexpr bool is_vector = false;
};
template <class T, int n>
struct eas_shape<vec<T, n>> {
    typedef T element;
    typedef vec<T, n> value;
    static constexpr int length = n;
    static constexpr bool is_vector = true;
};
template <class T, int n>
struct eas_shape<packed_vec<T, n>> : eas_shape<vec<T, n>> {};
template <class T>
using eas_element = typename eas_shape<T>::element;
template <class T>
using eas_value = typename eas_shape<T>::value;
template <class T>
constexpr bool eas_is_vector = eas_shape<T>::is_vector;

// An element, or the number that counts for all elements.
template <class V>
EAS_FUNC auto eas_pick(V v, int i) {
    if constexpr (eas_is_vector<V>) {
        return v.eas_at(i);
    } else {
        return v;
    }
}
template <int n, class... Parts>
using eas_if_numbers = enable_if_t<(sizeof...(Parts) == n && !(eas_is_vector<Parts> || ...))>;
template <int n, class... Parts>
using eas_if_mixed = enable_if_t<((eas_is_vector<Parts> || ...) && sizeof...(Parts) > 1 &&
                                  (eas_shape<Parts>::length + ... + 0) == n)>;

// The members of `vec` and `packed_vec`. A vector converts to one of other elements only if asked.
#define EAS_MEMBERS(self, other)                                                       \
    self() = default;                                                                  \
    EAS_FUNC constexpr self(T all) : eas_parts<T, n>(all) {}                           \
    template <class... Numbers, class = eas_if_numbers<n, Numbers...>>                 \
    EAS_FUNC constexpr self(Numbers... numbers) : eas_parts<T, n>((T)numbers...) {}    \
    template <class... Parts, class = eas_if_mixed<n, Parts...>, class = void>         \
    EAS_FUNC self(Parts... parts) {                                                    \
        int at = 0;                                                                    \
        ((at = eas_put(at, parts)), ...);                                              \
    }                                                                                  \
    template <class U>                                                                 \
    EAS_FUNC explicit self(vec<U, n> v) {                                              \
        eas_put(0, v);                                                                 \
    }                                                                                  \
    EAS_FUNC self(other<T, n> v) { eas_put(0, v); }                                    \
    template <class P>                                                                 \
    EAS_FUNC int eas_put(int at, P part) {                                             \
        for (int i = 0; i < eas_shape<P>::length; ++i) {                               \
            eas_at(at + i) = (T)eas_pick(part, i);                                     \
        }                                                                              \
        return at + eas_shape<P>::length;                                              \
    }                                                                                  \
    EAS_FUNC T& eas_at(int i) { return (&this->x)[i]; }                                \
    EAS_FUNC const T& eas_at(int i) const { return (&this->x)[i]; }                    \
    EAS_FUNC T& operator[](long i) { return eas_at(eas_index(i, n)); }                 \
    EAS_FUNC const T& operator[](long i) const { return eas_at(eas_index(i, n)); }     \
    EAS_FUNC self& operator++() { return *this = *this + T(1); }                       \
    EAS_FUNC self& operator--() { return *this = *this - T(1); }                       \
    EAS_FUNC self operator++(int) { return ++*this - T(1); }                           \
    EAS_FUNC self operator--(int) { return --*this + T(1); }                           \
    EAS_COMPOUND(self, +)                                                              \
    EAS_COMPOUND(self, -)                                                              \
    EAS_COMPOUND(self, *)                                                              \
    EAS_COMPOUND(self, /)                                                              \
    EAS_COMPOUND(self, %)                                                              \
    EAS_COMPOUND(self, &)                                                              \
    EAS_COMPOUND(self, |)                                                              \
    EAS_COMPOUND(self, ^)                                                              \
    EAS_COMPOUND(self, <<)                                                             \
    EAS_COMPOUND(self, >>)
#define EAS_COMPOUND(self, sign)                 \
    template <class B>                           \
    EAS_FUNC self& operator sign##=(B b) {       \
        return *this = *this sign b;             \
    }

template <class T, int n>
struct alignas(sizeof(T) * (n == 3 ? 4 : n)) vec : eas_parts<T, n> {
    EAS_MEMBERS(vec, packed_vec)
};
// A vector of three has the room of four: nobody reads or writes the rest.
template <class T>
struct alignas(sizeof(T) * 4) vec<T, 3> : eas_parts<T, 3> {
    static constexpr int n = 3;
    EAS_MEMBERS(vec, packed_vec)
#if !defined(EAS_STRICT)
    EAS_FUNC constexpr vec(const vec& from) : eas_parts<T, 3>(from.x, from.y, from.z) {}
    EAS_FUNC vec& operator=(const vec& from) {
        this->x = from.x, this->y = from.y, this->z = from.z;
        return *this;
    }
#endif
};
template <class T, int n>
struct packed_vec : eas_parts<T, n> {
    EAS_MEMBERS(packed_vec, vec)
};
#undef EAS_MEMBERS
#undef EAS_COMPOUND

// Applies a function of scalars to each element; scalars among vectors count for all elements.
template <class R, class F, class... Values>
EAS_FUNC R eas_each(F f, Values... values) {
    if constexpr (!eas_is_vector<R>) {
        return f(values...);
    } else {
        R result;
        for (int i = 0; i < eas_shape<R>::length; ++i) {
            result.eas_at(i) = f(eas_pick(values, i)...);
        }
        return result;
    }
}

// The vector that two operands become: both are of one type, or one is a number. A float is never
// cut off to become an element of ints.
template <class A, class B>
struct eas_join {};
template <class T, int n>
struct eas_join<vec<T, n>, vec<T, n>> {
    typedef vec<T, n> type;
};
template <class T, class S>
constexpr bool eas_fits = !eas_is_vector<S> && is_convertible_v<S, T> &&
                          (is_floating_point_v<T> || !is_floating_point_v<S>);
template <class T, int n, class S>
struct eas_join<vec<T, n>, S> : enable_if<eas_fits<T, S>, vec<T, n>> {};
template <class T, int n, class S>
struct eas_join<S, vec<T, n>> : enable_if<eas_fits<T, S>, vec<T, n>> {};
template <class A, class B>
using eas_joined = typename eas_join<eas_value<A>, eas_value<B>>::type;

template <class V>
using eas_truth_of = vec<bool, eas_shape<V>::length>;
template <class V>
constexpr bool eas_is_of_ints = is_integral_v<eas_element<V>>;
template <class V>
constexpr bool eas_is_of_numbers = !is_same_v<eas_element<V>, bool>;

// Elements are not promoted: the product of two `ushort`s wraps, where that of two `int`s overflows.
template <class T>
using eas_term = conditional_t<(is_unsigned_v<T> && !is_same_v<T, bool> && sizeof(T) < sizeof(uint)), uint, T>;

#define EAS_OPERATOR(sign, rule, result)                                                    \
    template <class A, class B, class V = eas_joined<A, B>, class = enable_if_t<rule>>      \
    EAS_FUNC result operator sign(A a, B b) {                                               \
        typedef eas_term<eas_element<V>> T;                                                 \
        return eas_each<result>([](T x, T y) EAS_LAMBDA {                                   \
            return (eas_element<result>)(x sign y);                                         \
        }, V(a), V(b));                                                                     \
    }
EAS_OPERATOR(+, eas_is_of_numbers<V>, V)
EAS_OPERATOR(-, eas_is_of_numbers<V>, V)
EAS_OPERATOR(*, eas_is_of_numbers<V>, V)
EAS_OPERATOR(/, eas_is_of_numbers<V>, V)
EAS_OPERATOR(%, eas_is_of_numbers<V>&& eas_is_of_ints<V>, V)
EAS_OPERATOR(<<, eas_is_of_numbers<V>&& eas_is_of_ints<V>, V)
EAS_OPERATOR(>>, eas_is_of_numbers<V>&& eas_is_of_ints<V>, V)
EAS_OPERATOR(&, eas_is_of_ints<V>, V)
EAS_OPERATOR(|, eas_is_of_ints<V>, V)
EAS_OPERATOR(^, eas_is_of_ints<V>, V)
EAS_OPERATOR(==, true, eas_truth_of<V>)
EAS_OPERATOR(!=, true, eas_truth_of<V>)
EAS_OPERATOR(<, eas_is_of_numbers<V>, eas_truth_of<V>)
EAS_OPERATOR(<=, eas_is_of_numbers<V>, eas_truth_of<V>)
EAS_OPERATOR(>, eas_is_of_numbers<V>, eas_truth_of<V>)
EAS_OPERATOR(>=, eas_is_of_numbers<V>, eas_truth_of<V>)
EAS_OPERATOR(&&, true, eas_truth_of<V>)
EAS_OPERATOR(||, true, eas_truth_of<V>)
#undef EAS_OPERATOR

#define EAS_SIGN(sign, rule, result)                                                              \
    template <class A, class = enable_if_t<eas_is_vector<A>>, class V = eas_value<A>, class = enable_if_t<rule>> \
    EAS_FUNC result operator sign(A a) {                                                          \
        return eas_each<result>([](auto x) EAS_LAMBDA { \
            return (eas_element<result>)(sign x);                                                 \
        }, V(a));                                                                                 \
    }
EAS_SIGN(+, eas_is_of_numbers<V>, V)
EAS_SIGN(-, eas_is_of_numbers<V>, V)
EAS_SIGN(~, eas_is_of_numbers<V>&& eas_is_of_ints<V>, V)
EAS_SIGN(!, true, eas_truth_of<V>)
#undef EAS_SIGN

}  // namespace metal
