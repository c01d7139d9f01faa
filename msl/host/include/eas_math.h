// Functions of floats and of both kinds of numbers. `half` is computed as `float` and rounded.
#pragma once

extern "C" {
float acosf(float), acoshf(float), asinf(float), asinhf(float), atanf(float), atanhf(float);
float cosf(float), coshf(float), sinf(float), sinhf(float), tanf(float), tanhf(float);
float expf(float), exp2f(float), expm1f(float), logf(float), log2f(float), log10f(float), log1pf(float);
float powf(float, float), atan2f(float, float), fmodf(float, float), ldexpf(float, int);
float fmaf(float, float, float), frexpf(float, int*), nextafterf(float, float);
float floorf(float), ceilf(float), truncf(float), rintf(float), roundf(float), cbrtf(float);
}

namespace metal {

#define EAS_UNARY(name, expression)                                              \
    template <class T>                                                           \
    inline eas_real<T> name(T values) {                                          \
        return eas_each<T>([](float x) { return (eas_element<T>)(expression); }, values); \
    }
#define EAS_BINARY(name, expression)                                                       \
    template <class T>                                                                     \
    inline eas_real<T> name(T left, T right) {                                             \
        return eas_each<T>([](float x, float y) { return (eas_element<T>)(expression); }, left, right); \
    }
EAS_UNARY(acos, acosf(x))
EAS_UNARY(acosh, acoshf(x))
EAS_UNARY(asin, asinf(x))
EAS_UNARY(asinh, asinhf(x))
EAS_UNARY(atan, atanf(x))
EAS_UNARY(atanh, atanhf(x))
EAS_UNARY(ceil, __builtin_ceilf(x))
EAS_UNARY(cos, cosf(x))
EAS_UNARY(cosh, coshf(x))
EAS_UNARY(cospi, cosf(x* M_PI_F))
EAS_UNARY(exp, expf(x))
EAS_UNARY(exp10, powf(10.0f, x))
EAS_UNARY(exp2, exp2f(x))
EAS_UNARY(fabs, __builtin_fabsf(x))
EAS_UNARY(floor, __builtin_floorf(x))
EAS_UNARY(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
EAS_UNARY(log, logf(x))
EAS_UNARY(log10, log10f(x))
EAS_UNARY(log2, log2f(x))
EAS_UNARY(rint, __builtin_rintf(x))
EAS_UNARY(round, __builtin_roundf(x))
EAS_UNARY(rsqrt, 1.0f / __builtin_sqrtf(x))
EAS_UNARY(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
EAS_UNARY(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == x ? x : 0.0f)
EAS_UNARY(sin, sinf(x))
EAS_UNARY(sinh, sinhf(x))
EAS_UNARY(sinpi, sinf(x* M_PI_F))
EAS_UNARY(sqrt, __builtin_sqrtf(x))
EAS_UNARY(tan, tanf(x))
EAS_UNARY(tanh, tanhf(x))
EAS_UNARY(tanpi, tanf(x* M_PI_F))
EAS_UNARY(trunc, __builtin_truncf(x))
EAS_BINARY(atan2, atan2f(x, y))
EAS_BINARY(copysign, __builtin_copysignf(x, y))
EAS_BINARY(divide, x / y)
EAS_BINARY(fdim, x > y ? x - y : x <= y ? 0.0f : x + y)
EAS_BINARY(fmax, __builtin_fmaxf(x, y))
EAS_BINARY(fmin, __builtin_fminf(x, y))
EAS_BINARY(fmod, fmodf(x, y))
EAS_BINARY(nextafter, nextafterf(x, y))
EAS_BINARY(pow, powf(x, y))
EAS_BINARY(powr, powf(x, y))
EAS_BINARY(step, y < x ? 0.0f : 1.0f)
#undef EAS_UNARY
#undef EAS_BINARY

template <class T>
inline eas_real<T> fma(T a, T b, T c) {
    // In `double` the product of two `half`s is exact, and so is the sum.
    return eas_each<T>(
        [](auto x, auto y, auto z) {
            if constexpr (sizeof(x) == 2) {
                return (half)((double)x * y + z);
            } else {
                return __builtin_fmaf(x, y, z);
            }
        },
        a, b, c);
}
template <class T>
inline eas_real<T> mix(T x, T y, T a) {
    return x + (y - x) * a;
}
template <class T>
inline eas_real<T> smoothstep(T low, T high, T x) {
    const T t = saturate((x - low) / (high - low));
    return t * t * (T(3) - T(2) * t);
}
template <class T>
inline eas_real<T> fmax3(T x, T y, T z) {
    return fmax(x, fmax(y, z));
}
template <class T>
inline eas_real<T> fmin3(T x, T y, T z) {
    return fmin(x, fmin(y, z));
}
template <class T>
inline enable_if_t<eas_is_real<T> && eas_shape<T>::length == 1, T> ldexp(T x, int exponent) {
    return T(ldexpf(x, exponent));
}
template <class T>
inline enable_if_t<eas_is_real<T> && eas_shape<T>::length == 1, T> frexp(T x, int& exponent) {
    return T(frexpf(x, &exponent));
}
template <class T>
inline enable_if_t<eas_is_real<T> && eas_shape<T>::length == 1, T> modf(T x, T& whole) {
    whole = trunc(x);
    return isinf(x) ? copysign(T(0), x) : copysign(x - whole, x);
}
template <class T>
inline enable_if_t<eas_is_real<T> && eas_shape<T>::length == 1, T> sincos(T x, T& cosine) {
    cosine = cos(x);
    return sin(x);
}

// --- questions about floats

template <class T>
using eas_truth = conditional_t<eas_shape<T>::length == 1, bool, vec<bool, eas_shape<T>::length == 1 ? 2 : eas_shape<T>::length>>;
#define EAS_QUESTION(name, expression)                                                     \
    template <class T>                                                                     \
    inline enable_if_t<is_floating_point_v<eas_element<T>>, eas_truth<T>> name(T values) { \
        return eas_each<eas_truth<T>>([](float x) -> bool { return expression; }, values); \
    }
EAS_QUESTION(isfinite, __builtin_isfinite(x))
EAS_QUESTION(isinf, __builtin_isinf(x))
EAS_QUESTION(isnan, __builtin_isnan(x))
EAS_QUESTION(isnormal, __builtin_isnormal(x))
EAS_QUESTION(signbit, __builtin_signbit(x))
#undef EAS_QUESTION

template <class T>
inline enable_if_t<is_same_v<eas_element<T>, bool>, bool> any(T x) {
    if constexpr (eas_shape<T>::length == 1) {
        return x;
    } else {
        bool found = false;
        for (int i = 0; i < eas_shape<T>::length; ++i) {
            found |= x[i];
        }
        return found;
    }
}
template <class T>
inline enable_if_t<is_same_v<eas_element<T>, bool>, bool> all(T x) {
    if constexpr (eas_shape<T>::length == 1) {
        return x;
    } else {
        bool found = true;
        for (int i = 0; i < eas_shape<T>::length; ++i) {
            found &= x[i];
        }
        return found;
    }
}
template <class T>
inline enable_if_t<eas_shape<T>::length == 1, T> select(T no, T yes, bool condition) {
    return condition ? yes : no;
}
template <class T, int n>
inline vec<T, n> select(vec<T, n> no, vec<T, n> yes, vec<bool, n> condition) {
    for (int i = 0; i < n; ++i) {
        no[i] = condition[i] ? yes[i] : no[i];
    }
    return no;
}

// --- of floats and ints

template <class T>
inline eas_number<T> abs(T x) {
    if constexpr (eas_is_real<T>) {
        return fabs(x);
    } else {
        return eas_each<T>([](auto e) { return (eas_element<T>)(e < 0 ? 0 - (ulong)e : e); }, x);
    }
}
template <class T>
inline eas_number<T> max(T x, T y) {
    if constexpr (eas_is_real<T>) {
        return fmax(x, y);
    } else {
        return eas_each<T>([](auto a, auto b) { return a < b ? b : a; }, x, y);
    }
}
template <class T>
inline eas_number<T> min(T x, T y) {
    if constexpr (eas_is_real<T>) {
        return fmin(x, y);
    } else {
        return eas_each<T>([](auto a, auto b) { return b < a ? b : a; }, x, y);
    }
}
template <class T>
inline eas_number<T> clamp(T x, T low, T high) {
    return min(max(x, low), high);
}
template <class T>
inline eas_number<T> max3(T x, T y, T z) {
    return max(x, max(y, z));
}
template <class T>
inline eas_number<T> min3(T x, T y, T z) {
    return min(x, min(y, z));
}
template <class T>
inline eas_number<T> median3(T x, T y, T z) {
    return max(min(x, y), min(max(x, y), z));
}

// The fast variants are as precise as the others here.
#define EAS_VARIANTS(U)                                                                            \
    U(acos) U(acosh) U(asin) U(asinh) U(atan) U(atan2) U(atanh) U(ceil) U(clamp) U(cos) U(cosh)    \
    U(cospi) U(copysign) U(divide) U(exp) U(exp10) U(exp2) U(fabs) U(abs) U(fdim) U(floor) U(fma)  \
    U(fmax) U(fmin) U(fmod) U(fract) U(isfinite) U(isinf) U(isnan) U(ldexp) U(log) U(log10)        \
    U(log2) U(max) U(min) U(mix) U(modf) U(pow) U(powr) U(rint) U(round) U(rsqrt) U(saturate)      \
    U(sign) U(sin) U(sincos) U(sinh) U(sinpi) U(smoothstep) U(sqrt) U(step) U(tan) U(tanh)         \
    U(tanpi) U(trunc)
#define EAS_USE(name) using metal::name;
namespace fast {
EAS_VARIANTS(EAS_USE)
}
namespace precise {
EAS_VARIANTS(EAS_USE)
}
#undef EAS_USE
#undef EAS_VARIANTS

}  // namespace metal
