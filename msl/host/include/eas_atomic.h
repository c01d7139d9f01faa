// Atomics. Lanes switch at barriers only, so a plain read and write are one step.
#pragma once

#if defined(EAS_STRICT)
// OpenCL has types of these names of its own.
#define atomic_int eas_atomic_int
#define atomic_uint eas_atomic_uint
#define atomic_bool eas_atomic_bool
#define atomic_float eas_atomic_float
#define atomic_long eas_atomic_long
#define atomic_ulong eas_atomic_ulong
#endif

namespace metal {

enum memory_order { memory_order_relaxed = 0 };

template <class T>
struct atomic {
    static_assert(sizeof(T) <= 4, "atomics are of int, uint, bool and float");
    atomic() = default;
    atomic(const atomic&) = delete;
    T eas_value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<float> atomic_float;

template <class T>
struct eas_same {
    typedef T type;
};
template <class T>
using eas_operand = typename eas_same<T>::type;

enum { EAS_READS, EAS_WRITES, EAS_BOTH };

#define EAS_UNCHECKED __attribute__((no_sanitize("thread"))) inline
// What an exchange finds counts as unread: it may well be the first to write.
#define EAS_MODIFY(space, name, rule, mode, expression)                                          \
    template <class T>                                                                           \
    EAS_UNCHECKED enable_if_t<rule, T> name(volatile space atomic<T>* place, eas_operand<T> x,   \
                                            memory_order, EAS_SITE) {                                      \
        eas_atomic((const volatile void*)place, sizeof(T), mode, site);                                   \
        const T found = place->eas_value;                                                        \
        place->eas_value = (T)(expression);                                                      \
        return found;                                                                            \
    }
#define EAS_ATOMICS(space)                                                                       \
    template <class T>                                                                           \
    EAS_UNCHECKED T atomic_load_explicit(const volatile space atomic<T>* place, memory_order, EAS_SITE) {  \
        eas_atomic((const volatile void*)place, sizeof(T), EAS_READS, site);                                   \
        return place->eas_value;                                                                 \
    }                                                                                            \
    template <class T>                                                                           \
    EAS_UNCHECKED void atomic_store_explicit(volatile space atomic<T>* place, eas_operand<T> x,  \
                                             memory_order, EAS_SITE) {                                     \
        eas_atomic((const volatile void*)place, sizeof(T), EAS_WRITES, site);                                   \
        place->eas_value = x;                                                                    \
    }                                                                                            \
    template <class T>                                                                           \
    EAS_UNCHECKED bool atomic_compare_exchange_weak_explicit(volatile space atomic<T>* place,    \
                                                             EAS_THREAD T* expected, eas_operand<T> desired, \
                                                             memory_order, memory_order, EAS_SITE) {       \
        eas_atomic((const volatile void*)place, sizeof(T), EAS_BOTH, site);                                   \
        const T found = place->eas_value;                                                        \
        const bool is_equal = __builtin_memcmp(&found, expected, sizeof(T)) == 0;                \
        if (is_equal) {                                                                          \
            place->eas_value = desired;                                                          \
        }                                                                                        \
        *expected = found;                                                                       \
        return is_equal;                                                                         \
    }                                                                                            \
    EAS_MODIFY(space, atomic_exchange_explicit, true, EAS_WRITES, x)                             \
    EAS_MODIFY(space, atomic_fetch_add_explicit, eas_can_add<space T>, EAS_BOTH, eas_wrapped(found, x, 1)) \
    EAS_MODIFY(space, atomic_fetch_sub_explicit, eas_can_add<space T>, EAS_BOTH, eas_wrapped(found, x, -1)) \
    EAS_MODIFY(space, atomic_fetch_max_explicit, eas_is_whole<T>, EAS_BOTH, found < x ? x : found) \
    EAS_MODIFY(space, atomic_fetch_min_explicit, eas_is_whole<T>, EAS_BOTH, x < found ? x : found) \
    EAS_MODIFY(space, atomic_fetch_and_explicit, eas_is_whole<T>, EAS_BOTH, found & x)           \
    EAS_MODIFY(space, atomic_fetch_or_explicit, eas_is_whole<T>, EAS_BOTH, found | x)            \
    EAS_MODIFY(space, atomic_fetch_xor_explicit, eas_is_whole<T>, EAS_BOTH, found ^ x)

// Ints can be added anywhere, floats in device memory only.
template <class T>
constexpr bool eas_can_add = eas_is_whole<remove_cv_t<T>>;
template <>
constexpr bool eas_can_add<EAS_DEVICE float> = true;

template <class T>
inline T eas_wrapped(T a, T b, int sign) {
    if constexpr (is_integral_v<T>) {
        return (T)(sign > 0 ? (uint)a + (uint)b : (uint)a - (uint)b);
    } else {
        return sign > 0 ? a + b : a - b;
    }
}

EAS_MEMORIES(EAS_ATOMICS)
#undef EAS_ATOMICS
#undef EAS_MODIFY
#undef EAS_UNCHECKED

inline void atomic_thread_fence(mem_flags, memory_order = memory_order_relaxed,
                                thread_scope = thread_scope_device) {}

}  // namespace metal
