// 8x8 matrices spread over the lanes of a simdgroup, two elements each.
#pragma once

namespace metal {

// The place of a lane's first element, as on Apple's GPUs; the second is right of it.
struct eas_place {
    uint row, column;
};
EAS_FUNC eas_place eas_fragment(uint lane) {
    return {(lane / 4 & 4) + lane / 2 % 4, (lane / 4 & 2) * 2 + lane % 2 * 2};
}
EAS_FUNC uint eas_owner(uint row, uint column) {
    return (row & 4) << 2 | (column & 4) << 1 | (row & 3) << 1 | (column >> 1 & 1);
}

template <class T, int columns, int rows>
struct simdgroup_matrix {
    static_assert(columns == 8 && rows == 8, "a simdgroup_matrix is 8 by 8");
    static_assert(is_floating_point_v<T>, "a simdgroup_matrix has elements of float, half or bfloat");
    typedef vec<T, 2> storage_type;
    storage_type eas_elements;
    simdgroup_matrix() = default;
    EAS_FUNC explicit simdgroup_matrix(T diagonal) {
        const eas_place place = eas_fragment(eas_lane());
        eas_elements.x = place.row == place.column ? diagonal : T(0);
        eas_elements.y = place.row == place.column + 1 ? diagonal : T(0);
    }
    EAS_FUNC EAS_THREAD storage_type& thread_elements() EAS_THREAD { return eas_elements; }
    EAS_FUNC const EAS_THREAD storage_type& thread_elements() const EAS_THREAD { return eas_elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int columns, int rows>
EAS_FUNC simdgroup_matrix<T, columns, rows> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, columns, rows> m;
    m.eas_elements = vec<T, 2>(value);
    return m;
}
template <class T, int columns, int rows>
EAS_FUNC simdgroup_matrix<T, columns, rows> make_diagonal_simdgroup_matrix(T value) {
    return simdgroup_matrix<T, columns, rows>(value);
}

EAS_FUNC ulong eas_offset(uint element, ulong per_row, vec<ulong, 2> origin, bool is_transposed) {
    const eas_place place = eas_fragment(eas_lane());
    const ulong row = place.row, column = place.column + element;
    return is_transposed ? (origin.y + column) * per_row + origin.x + row
                         : (origin.y + row) * per_row + origin.x + column;
}
#define EAS_MOVES(space)                                                                               \
    template <class T>                                                                                 \
    EAS_FUNC void simdgroup_load(EAS_THREAD simdgroup_matrix<T, 8, 8>& m, const space T* from, ulong per_row = 8,   \
                               vec<ulong, 2> origin = vec<ulong, 2>(0, 0), bool is_transposed = false, EAS_SITE) {   \
        eas_together(eas_exchange(nullptr, 0, 0, site), 32, site);                                     \
        m.eas_elements.x = from[eas_offset(0, per_row, origin, is_transposed)];                       \
        m.eas_elements.y = from[eas_offset(1, per_row, origin, is_transposed)];                       \
    }                                                                                                  \
    template <class T>                                                                                 \
    EAS_FUNC void simdgroup_store(simdgroup_matrix<T, 8, 8> m, space T* to, ulong per_row = 8,           \
                                vec<ulong, 2> origin = vec<ulong, 2>(0, 0), bool is_transposed = false, EAS_SITE) {  \
        eas_together(eas_exchange(nullptr, 0, 0, site), 32, site);                                     \
        to[eas_offset(0, per_row, origin, is_transposed)] = m.eas_elements.x;                         \
        to[eas_offset(1, per_row, origin, is_transposed)] = m.eas_elements.y;                         \
    }
EAS_MEMORIES(EAS_MOVES)
#undef EAS_MOVES

template <class T, class A, class B, class C>
EAS_FUNC void simdgroup_multiply_accumulate(EAS_THREAD simdgroup_matrix<T, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                          simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c, EAS_SITE) {
    struct Pair {
        float a[2], b[2];
    };
    const Pair mine = {{(float)a.eas_elements.x, (float)a.eas_elements.y},
                       {(float)b.eas_elements.x, (float)b.eas_elements.y}};
    const eas_slots* slots = eas_together(eas_exchange(&mine, sizeof(Pair), 0, site), 32, site);
    const eas_place place = eas_fragment(eas_lane());
    for (uint element = 0; element < 2; ++element) {
        const uint column = place.column + element;
        float sum = (float)c.eas_elements.eas_at(element);
        for (uint k = 0; k < 8; ++k) {
            const Pair left = eas_read<Pair>(slots, eas_owner(place.row, k));
            const Pair right = eas_read<Pair>(slots, eas_owner(k, column));
            sum += left.a[k & 1] * right.b[column & 1];
        }
        d.eas_elements.eas_at(element) = (T)sum;
    }
}
template <class T, class A, class B>
EAS_FUNC void simdgroup_multiply(EAS_THREAD simdgroup_matrix<T, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                               simdgroup_matrix<B, 8, 8> b, EAS_SITE) {
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<T, 8, 8>(T(0)), site);
}

}  // namespace metal
