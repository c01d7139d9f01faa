// Functions of floats and of both kinds of numbers. `half` is computed as `float` and rounded.
#pragma once

extern "C" {
float acosf(float), acoshf(float), asinf(float), asinhf(float), atanf(float), atanhf(float);
float cosf(float), coshf(float), sinf(float), sinhf(float), tanf(float), tanhf(float);
float expf(float), exp2f(float), logf(float), log2f(float), log10f(float);
float powf(float, float), atan2f(float, float), fmodf(float, float), ldexpf(float, int);
float nextafterf(float, float), frexpf(float, EAS_THREAD int*);
}

namespace metal {

#define EAS_UNARY(name, expression)                                      \
    template <class A>                                                   \
    EAS_FUNC eas_real<A> name(A a) {                                     \
        typedef eas_real<A> R;                                           \
        return eas_each<R>([](float x) EAS_LAMBDA { return (eas_element<R>)(expression); }, a); \
    }
#define EAS_BINARY(name, expression)                                                \
    template <class A, class B>                                                     \
    EAS_FUNC eas_real<A, B> name(A a, B b) {                                        \
        typedef eas_real<A, B> R;                                                   \
        return eas_each<R>([](float x, float y) EAS_LAMBDA { return (eas_element<R>)(expression); }, a, b); \
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
#if defined(EAS_STRICT)
EAS_UNARY(tanh, tanhf(x))
#else  // where it runs: tanhf of some C libraries is off by more than two units in the last place
EAS_UNARY(tanh, (float)__builtin_tanh((double)x))
#endif
EAS_UNARY(tanpi, tanf(x* M_PI_F))
EAS_UNARY(trunc, __builtin_truncf(x))
EAS_BINARY(atan2, atan2f(x, y))
EAS_BINARY(copysign, __builtin_copysignf(x, y))
EAS_BINARY(divide, x / y)
EAS_BINARY(fdim, x > y ? x - y : x <= y ? 0.0f : x + y)
// Metal leaves open which zero comes of two; here -0.0 is below 0.0, as on the other backends.
EAS_BINARY(fmax, x == y ? (__builtin_signbitf(x) ? y : x) : __builtin_fmaxf(x, y))
EAS_BINARY(fmin, x == y ? (__builtin_signbitf(x) ? x : y) : __builtin_fminf(x, y))
EAS_BINARY(fmod, fmodf(x, y))
EAS_BINARY(nextafter, nextafterf(x, y))
EAS_BINARY(pow, powf(x, y))
EAS_BINARY(powr, powf(x, y))
EAS_BINARY(step, y < x ? 0.0f : 1.0f)
#undef EAS_UNARY
#undef EAS_BINARY

EAS_FUNC float eas_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#if !defined(EAS_STRICT)
// The product of two `half`s is exact as a `double`, and so is the sum.
EAS_FUNC half eas_fma(half x, half y, half z) { return (half)((double)x * y + z); }
#endif
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> fma(A a, B b, C c) {
    typedef eas_real<A, B, C> R;
    typedef eas_element<R> T;
    return eas_each<R>([](T x, T y, T z) EAS_LAMBDA { return (T)eas_fma(x, y, z); }, a, b, c);
}
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> mix(A low, B high, C part) {
    typedef eas_real<A, B, C> R;
    const R start(low);
    return start + (R(high) - start) * R(part);
}
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> smoothstep(A low, B high, C x) {
    typedef eas_real<A, B, C> R;
    const R t = saturate((R(x) - R(low)) / (R(high) - R(low)));
    return t * t * (R(3) - R(2) * t);
}
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> fmax3(A x, B y, C z) {
    return fmax(eas_real<A, B, C>(x), fmax(y, z));
}
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> fmin3(A x, B y, C z) {
    return fmin(eas_real<A, B, C>(x), fmin(y, z));
}
template <class A, class B, class C>
EAS_FUNC eas_real<A, B, C> fmedian3(A x, B y, C z) {
    typedef eas_real<A, B, C> R;
    return fmax(fmin(R(x), R(y)), fmin(fmax(R(x), R(y)), R(z)));
}

template <class A>
EAS_FUNC eas_real<A> ldexp(A x, eas_like<A, int> exponent) {
    return eas_each<eas_real<A>>(
        [](float e, int k) EAS_LAMBDA { return (eas_element<A>)ldexpf(e, k); }, x, exponent);
}
EAS_FUNC int eas_exponent(float x) {
    int exponent = 0;
    frexpf(x, &exponent);
    return exponent;
}
template <class A>
EAS_FUNC eas_like<eas_real<A>, int> ilogb(A x) {
    return eas_each<eas_like<A, int>>([](float e) EAS_LAMBDA { return eas_exponent(e) - 1; }, x);
}
template <class A>
EAS_FUNC eas_real<A> frexp(A x, EAS_THREAD eas_like<A, int>& exponent) {
    exponent = eas_each<eas_like<A, int>>([](float e) EAS_LAMBDA { return eas_exponent(e); }, x);
    return ldexp(x, -exponent);
}
template <class A>
EAS_FUNC eas_real<A> modf(A x, EAS_THREAD eas_real<A>& whole) {
    whole = trunc(x);
    return eas_each<eas_real<A>>(
        [](float e, float w) EAS_LAMBDA {
            return (eas_element<A>)__builtin_copysignf(__builtin_isinf(e) ? 0.0f : e - w, e);
        },
        x, whole);
}
template <class A>
EAS_FUNC eas_real<A> sincos(A x, EAS_THREAD eas_real<A>& cosine) {
    cosine = cos(x);
    return sin(x);
}

#define EAS_QUESTION(name, expression)                                                               \
    template <class A>                                                                               \
    EAS_FUNC enable_if_t<is_floating_point_v<eas_element<A>>, eas_like<A, bool>> name(A a) {         \
        return eas_each<eas_like<A, bool>>([](float x) EAS_LAMBDA -> bool { return expression; }, a); \
    }
EAS_QUESTION(isfinite, __builtin_isfinite(x))
EAS_QUESTION(isinf, __builtin_isinf(x))
EAS_QUESTION(isnan, __builtin_isnan(x))
EAS_QUESTION(isnormal, __builtin_isnormal(x))
EAS_QUESTION(signbit, __builtin_signbit(x))
#undef EAS_QUESTION
template <class A, class B>
EAS_FUNC eas_like<eas_real<A, B>, bool> isordered(A a, B b) {
    return !isnan(a) && !isnan(b);
}
template <class A, class B>
EAS_FUNC eas_like<eas_real<A, B>, bool> isunordered(A a, B b) {
    return isnan(a) || isnan(b);
}

template <class A>
EAS_FUNC enable_if_t<is_same_v<eas_element<A>, bool>, bool> any(A x) {
    bool found = false;
    for (int i = 0; i < eas_shape<A>::length; ++i) {
        found |= eas_pick(x, i);
    }
    return found;
}
template <class A>
EAS_FUNC enable_if_t<is_same_v<eas_element<A>, bool>, bool> all(A x) {
    bool found = true;
    for (int i = 0; i < eas_shape<A>::length; ++i) {
        found &= eas_pick(x, i);
    }
    return found;
}
template <class A, class B>
EAS_FUNC eas_any_type<A, B> select(A no, B yes, eas_like<eas_any_type<A, B>, bool> condition) {
    typedef eas_any_type<A, B> R;
    typedef eas_element<R> T;
    return eas_each<R>([](T a, T b, bool c) EAS_LAMBDA { return c ? b : a; }, no, yes, condition);
}

template <class A>
EAS_FUNC eas_number<A> abs(A x) {
    if constexpr (eas_is_real<A>) {
        return fabs(x);
    } else {
        return eas_each<eas_number<A>>(
            [](auto e) EAS_LAMBDA { return (eas_element<A>)(e < 0 ? 0 - (ulong)e : e); }, x);
    }
}
template <class A, class B>
EAS_FUNC eas_number<A, B> max(A x, B y) {
    typedef eas_number<A, B> R;
    typedef eas_element<R> T;
    if constexpr (eas_is_real<R>) {
        return fmax(x, y);
    } else {
        return eas_each<R>([](T a, T b) EAS_LAMBDA { return a < b ? b : a; }, x, y);
    }
}
template <class A, class B>
EAS_FUNC eas_number<A, B> min(A x, B y) {
    typedef eas_number<A, B> R;
    typedef eas_element<R> T;
    if constexpr (eas_is_real<R>) {
        return fmin(x, y);
    } else {
        return eas_each<R>([](T a, T b) EAS_LAMBDA { return b < a ? b : a; }, x, y);
    }
}
template <class A, class B, class C>
EAS_FUNC eas_number<A, B, C> clamp(A x, B low, C high) {
    typedef eas_number<A, B, C> R;
    return min(max(R(x), R(low)), R(high));
}
template <class A, class B, class C>
EAS_FUNC eas_number<A, B, C> max3(A x, B y, C z) {
    typedef eas_number<A, B, C> R;
    return max(R(x), max(R(y), R(z)));
}
template <class A, class B, class C>
EAS_FUNC eas_number<A, B, C> min3(A x, B y, C z) {
    typedef eas_number<A, B, C> R;
    return min(R(x), min(R(y), R(z)));
}
template <class A, class B, class C>
EAS_FUNC eas_number<A, B, C> median3(A x, B y, C z) {
    typedef eas_number<A, B, C> R;
    return max(min(R(x), R(y)), min(max(R(x), R(y)), R(z)));
}

// The fast variants are as precise as the others here.
#define EAS_VARIANTS(U)                                                                            \
    U(acos) U(acosh) U(asin) U(asinh) U(atan) U(atan2) U(atanh) U(ceil) U(clamp) U(cos) U(cosh)    \
    U(cospi) U(copysign) U(divide) U(exp) U(exp10) U(exp2) U(fabs) U(abs) U(fdim) U(floor) U(fma)  \
    U(fmax) U(fmax3) U(fmedian3) U(fmin) U(fmin3) U(fmod) U(fract) U(frexp) U(ilogb) U(isfinite)   \
    U(isinf) U(isnan) U(ldexp) U(log) U(log10) U(log2) U(max) U(max3) U(median3) U(min) U(min3)    \
    U(mix) U(modf) U(pow) U(powr) U(rint) U(round) U(rsqrt) U(saturate) U(sign) U(sin) U(sincos)   \
    U(sinh) U(sinpi) U(smoothstep) U(sqrt) U(step) U(tan) U(tanh) U(tanpi) U(trunc)
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
