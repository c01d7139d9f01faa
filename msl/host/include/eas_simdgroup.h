// Barriers and operations of a simdgroup: lanes meet in `eas_exchange` and see each other's values.
//
// The lanes that meet are the active threads of the Metal Shading Language Specification, section
// "SIMD-group Functions". What is defined there for diverged lanes is no fault in check mode:
// reductions, prefixes and votes are over the active threads. These are faults:
// - a shuffle or broadcast from a lane that is not active or not there: only data of active threads
//   may be read;
// - a distance, mask or broadcast lane that is not the same in all lanes, where it has to be;
// - `simdgroup_barrier` and functions of matrices if not all threads of the simdgroup execute them.
#pragma once

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
EAS_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
enum thread_scope {
    thread_scope_thread,
    thread_scope_simdgroup,
    thread_scope_threadgroup,
    thread_scope_device
};

EAS_FUNC void threadgroup_barrier(mem_flags flags, EAS_SITE) { eas_barrier(uint(flags), site); }
// All of some lanes, the first ones, have to execute what needs them all.
EAS_FUNC const eas_slots* eas_together(const eas_slots* slots, uint lanes, ulong site) {
#if defined(EAS_CHECKED)
    if (slots->active != 0xffffffffu >> (32 - lanes)) {
        eas_diverged(site);
    }
#endif
    return slots;
}
EAS_FUNC void simdgroup_barrier(mem_flags flags, EAS_SITE) {
    eas_together(eas_exchange(nullptr, 0, uint(flags) | 16u, site), eas_lanes(), site);
}

template <class T>
using eas_lane_value = enable_if_t<(is_arithmetic_v<eas_element<T>> && sizeof(eas_element<T>) <= 4 &&
                                    !is_same_v<eas_element<T>, bool> && !is_same_v<eas_element<T>, bfloat>),
                                   eas_value<T>>;

template <class T>
EAS_FUNC T eas_read(const eas_slots* slots, uint lane) {
    T value;
    __builtin_memcpy(&value, slots->bytes[lane & 31], sizeof(T));
    return value;
}

// A reduction over all lanes of a simdgroup, or of a quad.
template <class T, class F>
EAS_FUNC T eas_fold(T x, uint first, uint count, F f, ulong site) {
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    bool is_first = true;
    T result{};
    for (uint lane = first; lane < first + count; ++lane) {
        if (slots->active >> lane & 1) {
            const T other = eas_read<T>(slots, lane);
            result = is_first ? T(other) : f(result, other);
            is_first = false;
        }
    }
    return result;
}
#define EAS_FOLD(name, rule, expression)                                                           \
    template <class T, class = enable_if_t<rule>>                                                  \
    EAS_FUNC eas_lane_value<T> simd_##name(T x, EAS_SITE) {                                        \
        return eas_fold(x, 0, 32, [](T a, T b) EAS_LAMBDA -> T { return expression; }, site);      \
    }                                                                                              \
    template <class T, class = enable_if_t<rule>>                                                  \
    EAS_FUNC eas_lane_value<T> quad_##name(T x, EAS_SITE) {                                        \
        return eas_fold(x, eas_lane() & ~3u, 4, [](T a, T b) EAS_LAMBDA -> T { return expression; }, site); \
    }
EAS_FOLD(sum, true, a + b)
EAS_FOLD(product, true, a* b)
EAS_FOLD(max, true, max(a, b))
EAS_FOLD(min, true, min(a, b))
EAS_FOLD(and, eas_is_whole<T>, a& b)
EAS_FOLD(or, eas_is_whole<T>, a | b)
EAS_FOLD(xor, eas_is_whole<T>, a ^ b)
#undef EAS_FOLD

// A prefix sum or product over the lanes up to this one.
template <class T, class F>
EAS_FUNC T eas_prefix(T x, T start, bool inclusive, F f, ulong site) {
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
    EAS_FUNC eas_lane_value<T> name(T x, EAS_SITE) {                                              \
        return eas_prefix(x, T(start), inclusive, [](T a, T b) EAS_LAMBDA -> T { return expression; }, site); \
    }
EAS_PREFIX(simd_prefix_inclusive_sum, 0, true, a + b)
EAS_PREFIX(simd_prefix_exclusive_sum, 0, false, a + b)
EAS_PREFIX(simd_prefix_inclusive_product, 1, true, a* b)
EAS_PREFIX(simd_prefix_exclusive_product, 1, false, a* b)
#undef EAS_PREFIX

// Shuffles read the value of another lane. Where there is no such lane they give the lane's own.

// Meets the other lanes with a value and the number `n` of a lane, a distance or a mask.
template <class T>
struct eas_sent {
    T value;
    uint n;
};
template <class T>
EAS_FUNC const eas_slots* eas_send(T x, uint n, bool is_same, ulong site) {
#if defined(EAS_CHECKED)
    const eas_sent<T> sent = {x, n};
    const eas_slots* slots = eas_exchange(&sent, sizeof sent, 0, site);
    for (uint lane = 0; is_same && lane < 32; ++lane) {
        if ((slots->active >> lane & 1) && eas_read<eas_sent<T>>(slots, lane).n != n) {
            eas_bad_distance(site);
        }
    }
    return slots;
#else
    return eas_exchange(&x, sizeof(T), 0, site);
#endif
}
template <class T>
EAS_FUNC T eas_receive(const eas_slots* slots, uint lane, ulong site) {
#if defined(EAS_CHECKED)
    if (!(slots->active >> (lane & 31) & 1)) {
        eas_bad_lane(site);
    }
#endif
    return eas_read<T>(slots, lane);
}
EAS_FUNC bool eas_is_lane(uint lane, ulong site) {
#if defined(EAS_CHECKED)
    if (lane >= 32) {
        eas_bad_lane(site);
    }
#endif
    return lane < 32;
}

#define EAS_SHUFFLE(name, is_same, from, is_inside)                           \
    template <class T>                                                        \
    EAS_FUNC eas_lane_value<T> name(T x, ushort n, EAS_SITE) {                  \
        const uint me = eas_lane();                                           \
        const eas_slots* slots = eas_send(x, n, is_same, site);               \
        return is_inside ? eas_receive<T>(slots, from, site) : x;             \
    }
EAS_SHUFFLE(simd_shuffle, false, n, eas_is_lane(n, site))
EAS_SHUFFLE(simd_broadcast, true, n, eas_is_lane(n, site))
EAS_SHUFFLE(simd_shuffle_xor, true, me ^ n, eas_is_lane(me ^ n, site))
EAS_SHUFFLE(simd_shuffle_down, true, me + n, me + n < 32)
EAS_SHUFFLE(simd_shuffle_up, true, me - n, n <= me)
EAS_SHUFFLE(simd_shuffle_rotate_down, true, me + n, true)
EAS_SHUFFLE(simd_shuffle_rotate_up, true, me - n, true)
EAS_SHUFFLE(quad_shuffle, false, (me & ~3u) | (n & 3), true)
EAS_SHUFFLE(quad_broadcast, true, (me & ~3u) | (n & 3), true)
EAS_SHUFFLE(quad_shuffle_xor, true, me ^ (n & 3), true)
EAS_SHUFFLE(quad_shuffle_down, true, me + n, (me & 3) + n < 4)
EAS_SHUFFLE(quad_shuffle_up, true, me - n, n <= (me & 3))
#undef EAS_SHUFFLE

// Lanes without one to read from take from `fill`: the vector of `modulo` lanes goes on there.
template <class T>
EAS_FUNC eas_lane_value<T> simd_shuffle_and_fill_up(T x, T fill, ushort n, ushort modulo = 32, EAS_SITE) {
    const uint me = eas_lane() % modulo, start = eas_lane() - me;
    const T filled = simd_shuffle(fill, start + (me - n + modulo) % modulo, site);
    const T shifted = simd_shuffle(x, start + (me - n + modulo) % modulo, site);
    return n <= me ? shifted : filled;
}
template <class T>
EAS_FUNC eas_lane_value<T> simd_shuffle_and_fill_down(T x, T fill, ushort n, ushort modulo = 32, EAS_SITE) {
    const uint me = eas_lane() % modulo, start = eas_lane() - me;
    const T filled = simd_shuffle(fill, start + (me + n) % modulo, site);
    const T shifted = simd_shuffle(x, start + (me + n) % modulo, site);
    return me + n < modulo ? shifted : filled;
}
template <class T>
EAS_FUNC eas_lane_value<T> quad_broadcast_first(T x, EAS_SITE) {
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    const uint first = eas_lane() & ~3u;
    return eas_read<T>(slots, first + __builtin_ctz(slots->active >> first));
}
template <class T>
EAS_FUNC eas_lane_value<T> simd_broadcast_first(T x, EAS_SITE) {
    const eas_slots* slots = eas_exchange(&x, sizeof(T), 0, site);
    return eas_read<T>(slots, __builtin_ctz(slots->active));
}

struct simd_vote {
    typedef ulong vote_t;
    ulong eas_lanes;
    EAS_FUNC constexpr explicit simd_vote(ulong lanes = 0) : eas_lanes(lanes) {}
    EAS_FUNC constexpr explicit operator ulong() const { return eas_lanes; }
    EAS_FUNC constexpr bool all() const { return eas_lanes == 0xffffffff; }
    EAS_FUNC constexpr bool any() const { return eas_lanes != 0; }
};
EAS_FUNC simd_vote simd_ballot(bool x, EAS_SITE) {
    const eas_slots* slots = eas_exchange(&x, sizeof(bool), 0, site);
    ulong lanes = 0;
    for (uint lane = 0; lane < 32; ++lane) {
        if (slots->active >> lane & 1 && eas_read<bool>(slots, lane)) {
            lanes |= 1ul << lane;
        }
    }
    return simd_vote(lanes);
}
EAS_FUNC bool simd_any(bool x, EAS_SITE) { return simd_ballot(x, site).any(); }
EAS_FUNC bool simd_all(bool x, EAS_SITE) { return !simd_ballot(!x, site).any(); }
EAS_FUNC simd_vote simd_active_threads_mask(EAS_SITE) {
    return simd_vote(eas_exchange(nullptr, 0, 0, site)->active);
}
EAS_FUNC bool simd_is_first(EAS_SITE) {
    const uint me = eas_lane();
    return (uint)__builtin_ctz(eas_exchange(nullptr, 0, 0, site)->active) == me;
}


struct quad_vote {
    typedef ulong vote_t;
    ulong eas_lanes;
    EAS_FUNC constexpr explicit quad_vote(ulong lanes = 0) : eas_lanes(lanes) {}
    EAS_FUNC constexpr explicit operator ulong() const { return eas_lanes; }
    EAS_FUNC constexpr bool all() const { return eas_lanes == 15; }
    EAS_FUNC constexpr bool any() const { return eas_lanes != 0; }
};
EAS_FUNC quad_vote quad_ballot(bool x, EAS_SITE) {
    return quad_vote((ulong)simd_ballot(x, site) >> (eas_lane() & ~3u) & 15);
}
EAS_FUNC bool quad_any(bool x, EAS_SITE) { return quad_ballot(x, site).any(); }
EAS_FUNC bool quad_all(bool x, EAS_SITE) { return !quad_ballot(!x, site).any(); }
EAS_FUNC quad_vote quad_active_threads_mask(EAS_SITE) { return quad_ballot(true, site); }
EAS_FUNC bool quad_is_first(EAS_SITE) {
    return (uint)__builtin_ctzl((ulong)quad_ballot(true, site)) == (eas_lane() & 3);
}

}  // namespace metal
