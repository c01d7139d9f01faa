// Barriers and operations of a simdgroup: lanes meet in `eas_exchange` and see each other's values.
#pragma once

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
enum thread_scope {
    thread_scope_thread,
    thread_scope_simdgroup,
    thread_scope_threadgroup,
    thread_scope_device
};

inline void threadgroup_barrier(mem_flags flags, EAS_SITE) { eas_barrier(uint(flags), site); }
inline void simdgroup_barrier(mem_flags flags, EAS_SITE) {
    eas_exchange(nullptr, 0, uint(flags) | 16u, site);
}

template <class T>
using eas_lane_value = enable_if_t<(is_arithmetic_v<eas_element<T>> && sizeof(eas_element<T>) <= 4 &&
                                    !is_same_v<eas_element<T>, bool> && !is_same_v<eas_element<T>, bfloat>),
                                   T>;

template <class T>
inline T eas_read(const eas_slots* slots, uint lane) {
    T value;
    __builtin_memcpy(&value, slots->bytes[lane & 31], sizeof(T));
    return value;
}

// --- all lanes to one value

template <class T, class F>
inline T eas_fold(T x, F f, ulong site) {
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    bool is_first = true;
    T result{};
    for (uint lane = 0; lane < 32; ++lane) {
        if (slots->active >> lane & 1) {
            const T other = eas_read<T>(slots, lane);
            result = is_first ? other : f(result, other);
            is_first = false;
        }
    }
    return result;
}
#define EAS_FOLD(name, expression)                                       \
    template <class T>                                                   \
    inline eas_lane_value<T> name(T x, EAS_SITE) {                       \
        return eas_fold(x, [](T a, T b) -> T { return expression; }, site); \
    }
EAS_FOLD(simd_sum, a + b)
EAS_FOLD(simd_product, a* b)
EAS_FOLD(simd_max, max(a, b))
EAS_FOLD(simd_min, min(a, b))
EAS_FOLD(simd_and, a& b)
EAS_FOLD(simd_or, a | b)
EAS_FOLD(simd_xor, a ^ b)
#undef EAS_FOLD

// --- prefixes

template <class T, class F>
inline T eas_prefix(T x, T start, bool inclusive, F f, ulong site) {
    const uint me = eas_lane();
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    T result = start;
    for (uint lane = 0; lane < me + (inclusive ? 1 : 0); ++lane) {
        if (slots->active >> lane & 1) {
            result = f(result, eas_read<T>(slots, lane));
        }
    }
    return result;
}
#define EAS_PREFIX(name, start, inclusive, expression)                                          \
    template <class T>                                                                          \
    inline eas_lane_value<T> name(T x, EAS_SITE) {                                              \
        return eas_prefix(x, T(start), inclusive, [](T a, T b) -> T { return expression; }, site); \
    }
EAS_PREFIX(simd_prefix_inclusive_sum, 0, true, a + b)
EAS_PREFIX(simd_prefix_exclusive_sum, 0, false, a + b)
EAS_PREFIX(simd_prefix_inclusive_product, 1, true, a* b)
EAS_PREFIX(simd_prefix_exclusive_product, 1, false, a* b)
#undef EAS_PREFIX

// --- another lane's value; where there is no such lane, the lane's own

#define EAS_SHUFFLE(name, from, is_inside)                                    \
    template <class T>                                                        \
    inline eas_lane_value<T> name(T x, ushort n, EAS_SITE) {                  \
        const uint me = eas_lane();                                           \
        const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);        \
        return is_inside ? eas_read<T>(slots, from) : x;                      \
    }
EAS_SHUFFLE(simd_shuffle, n, n < 32)
EAS_SHUFFLE(simd_broadcast, n, n < 32)
EAS_SHUFFLE(simd_shuffle_xor, me ^ n, (me ^ n) < 32)
EAS_SHUFFLE(simd_shuffle_down, me + n, me + n < 32)
EAS_SHUFFLE(simd_shuffle_up, me - n, n <= me)
EAS_SHUFFLE(simd_shuffle_rotate_down, me + n, true)
EAS_SHUFFLE(simd_shuffle_rotate_up, me - n, true)
EAS_SHUFFLE(quad_shuffle, (me & ~3u) | (n & 3), true)
EAS_SHUFFLE(quad_broadcast, (me & ~3u) | (n & 3), true)
EAS_SHUFFLE(quad_shuffle_xor, me ^ (n & 3), true)
EAS_SHUFFLE(quad_shuffle_down, me + n, (me & 3) + n < 4)
EAS_SHUFFLE(quad_shuffle_up, me - n, n <= (me & 3))
#undef EAS_SHUFFLE

template <class T>
inline eas_lane_value<T> simd_shuffle_and_fill_up(T x, T fill, ushort n, EAS_SITE) {
    const uint me = eas_lane();
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    return n <= me ? eas_read<T>(slots, me - n) : fill;
}
template <class T>
inline eas_lane_value<T> simd_broadcast_first(T x, EAS_SITE) {
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    return eas_read<T>(slots, __builtin_ctz(slots->active));
}

// --- votes

struct simd_vote {
    typedef ulong vote_t;
    ulong eas_lanes;
    constexpr explicit simd_vote(ulong lanes = 0) : eas_lanes(lanes) {}
    constexpr explicit operator ulong() const { return eas_lanes; }
    constexpr bool all() const { return eas_lanes == 0xffffffff; }
    constexpr bool any() const { return eas_lanes != 0; }
};
inline simd_vote simd_ballot(bool x, EAS_SITE) {
    const eas_slots* slots = eas_exchange(&x, sizeof(bool), 0, site);
    ulong lanes = 0;
    for (uint lane = 0; lane < 32; ++lane) {
        if (slots->active >> lane & 1 && eas_read<bool>(slots, lane)) {
            lanes |= 1ul << lane;
        }
    }
    return simd_vote(lanes);
}
inline bool simd_any(bool x, EAS_SITE) { return simd_ballot(x, site).any(); }
inline bool simd_all(bool x, EAS_SITE) { return !simd_ballot(!x, site).any(); }
inline simd_vote simd_active_threads_mask(EAS_SITE) {
    return simd_vote(eas_exchange(nullptr, 0, 0, site)->active);
}
inline bool simd_is_first(EAS_SITE) {
    const uint me = eas_lane();
    return (uint)__builtin_ctz(eas_exchange(nullptr, 0, 0, site)->active) == me;
}

}  // namespace metal
