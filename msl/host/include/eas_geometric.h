// Vectors as geometry, and small matrices.
#pragma once

namespace metal {

// The result of functions of vectors of floats, and that of their elements.
template <class... A>
using eas_arrow = enable_if_t<eas_is_vector<eas_real<A...>>, eas_real<A...>>;
template <class... A>
using eas_size = eas_element<eas_arrow<A...>>;

template <class A, class B>
EAS_FUNC eas_size<A, B> dot(A x, B y) {
    typedef eas_arrow<A, B> R;
    const R product = R(x) * R(y);
    eas_size<A, B> sum = product.x;
    for (int i = 1; i < eas_shape<R>::length; ++i) {
        sum += product.eas_at(i);
    }
    return sum;
}
template <class A>
EAS_FUNC eas_size<A> length_squared(A x) {
    return dot(x, x);
}
template <class A>
EAS_FUNC eas_size<A> length(A x) {
    return sqrt(dot(x, x));
}
template <class A, class B>
EAS_FUNC eas_size<A, B> distance_squared(A x, B y) {
    return length_squared(x - y);
}
template <class A, class B>
EAS_FUNC eas_size<A, B> distance(A x, B y) {
    return length(x - y);
}
template <class A>
EAS_FUNC eas_arrow<A> normalize(A x) {
    return x * rsqrt(dot(x, x));
}
template <class A, class B>
EAS_FUNC enable_if_t<eas_shape<eas_arrow<A, B>>::length == 3, eas_arrow<A, B>> cross(A x, B y) {
    typedef eas_arrow<A, B> R;
    const R a(x), b(y);
    return R(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template <class A, class B>
EAS_FUNC eas_arrow<A, B> reflect(A x, B normal) {
    return x - eas_size<A, B>(2) * dot(normal, x) * normal;
}
template <class A, class B, class C>
EAS_FUNC eas_arrow<A, B> refract(A x, B normal, C ratio) {
    typedef eas_size<A, B> T;
    const T eta = T(ratio), cosine = dot(normal, x);
    const T k = T(1) - eta * eta * (T(1) - cosine * cosine);
    return k < T(0) ? eas_arrow<A, B>(T(0)) : eta * x - (eta * cosine + sqrt(k)) * normal;
}
template <class A, class B, class C>
EAS_FUNC eas_arrow<A, B, C> faceforward(A normal, B x, C reference) {
    return dot(reference, x) < 0 ? normal : -normal;
}

// A matrix has columns of vectors, as in Metal.
template <class T, int columns, int rows>
struct matrix {
    typedef vec<T, rows> eas_column;
    eas_column eas_columns[columns];
    matrix() = default;
    EAS_FUNC explicit matrix(T diagonal) {
        for (int i = 0; i < columns; ++i) {
            eas_columns[i] = eas_column(T(0));
            if (i < rows) {
                eas_columns[i].eas_at(i) = diagonal;
            }
        }
    }
    // Columns or elements, one behind the other.
    template <class... Parts, class = enable_if_t<(sizeof...(Parts) > 1 &&
                                                   (eas_shape<Parts>::length + ...) == columns * rows)>>
    EAS_FUNC matrix(Parts... parts) {
        int at = 0;
        ((at = eas_fill(at, parts)), ...);
    }
    template <class U>
    EAS_FUNC explicit matrix(const matrix<U, columns, rows>& m) {
        for (int i = 0; i < columns; ++i) {
            eas_columns[i] = eas_column(m.eas_columns[i]);
        }
    }
    template <class P>
    EAS_FUNC int eas_fill(int at, P part) {
        for (int i = 0; i < eas_shape<P>::length; ++i, ++at) {
            eas_columns[at / rows].eas_at(at % rows) = (T)eas_pick(part, i);
        }
        return at;
    }
    EAS_FUNC eas_column& operator[](long i) { return eas_columns[eas_index(i, columns)]; }
    EAS_FUNC const eas_column& operator[](long i) const { return eas_columns[eas_index(i, columns)]; }
#define EAS_COMPOUND(sign)                           \
    template <class B>                               \
    EAS_FUNC matrix& operator sign##=(const B& b) {  \
        return *this = *this sign b;                 \
    }
    EAS_COMPOUND(+)
    EAS_COMPOUND(-)
    EAS_COMPOUND(*)
#undef EAS_COMPOUND
};

#define EAS_MATRIX template <class T, int columns, int rows>
#define EAS_IN_COLUMNS(expression)        \
    matrix<T, columns, rows> result;      \
    for (int i = 0; i < columns; ++i) {   \
        result[i] = expression;           \
    }                                     \
    return result;
EAS_MATRIX EAS_FUNC matrix<T, columns, rows> operator+(const matrix<T, columns, rows>& a,
                                                       const matrix<T, columns, rows>& b) {
    EAS_IN_COLUMNS(a[i] + b[i])
}
EAS_MATRIX EAS_FUNC matrix<T, columns, rows> operator-(const matrix<T, columns, rows>& a,
                                                       const matrix<T, columns, rows>& b) {
    EAS_IN_COLUMNS(a[i] - b[i])
}
EAS_MATRIX EAS_FUNC matrix<T, columns, rows> operator-(const matrix<T, columns, rows>& a) {
    EAS_IN_COLUMNS(-a[i])
}
template <class T, int columns, int rows, class S, class = enable_if_t<eas_fits<T, S>>>
EAS_FUNC matrix<T, columns, rows> operator*(const matrix<T, columns, rows>& a, S scale) {
    EAS_IN_COLUMNS(a[i] * (T)scale)
}
template <class T, int columns, int rows, class S, class = enable_if_t<eas_fits<T, S>>>
EAS_FUNC matrix<T, columns, rows> operator*(S scale, const matrix<T, columns, rows>& a) {
    EAS_IN_COLUMNS(a[i] * (T)scale)
}
EAS_MATRIX EAS_FUNC vec<T, rows> operator*(const matrix<T, columns, rows>& m, vec<T, columns> x) {
    vec<T, rows> sum = m[0] * x.x;
    for (int i = 1; i < columns; ++i) {
        sum += m[i] * x.eas_at(i);
    }
    return sum;
}
EAS_MATRIX EAS_FUNC vec<T, columns> operator*(vec<T, rows> x, const matrix<T, columns, rows>& m) {
    vec<T, columns> products;
    for (int i = 0; i < columns; ++i) {
        products.eas_at(i) = dot(x, m[i]);
    }
    return products;
}
template <class T, int inner, int rows, int columns>
EAS_FUNC matrix<T, columns, rows> operator*(const matrix<T, inner, rows>& x, const matrix<T, columns, inner>& y) {
    EAS_IN_COLUMNS(x* y[i])
}
EAS_MATRIX EAS_FUNC bool operator==(const matrix<T, columns, rows>& a, const matrix<T, columns, rows>& b) {
    bool is_equal = true;
    for (int i = 0; i < columns; ++i) {
        is_equal &= all(a[i] == b[i]);
    }
    return is_equal;
}
EAS_MATRIX EAS_FUNC bool operator!=(const matrix<T, columns, rows>& a, const matrix<T, columns, rows>& b) {
    return !(a == b);
}
EAS_MATRIX EAS_FUNC matrix<T, rows, columns> transpose(const matrix<T, columns, rows>& m) {
    matrix<T, rows, columns> turned;
    for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < rows; ++j) {
            turned.eas_columns[j].eas_at(i) = m.eas_columns[i].eas_at(j);
        }
    }
    return turned;
}
template <class T>
EAS_FUNC T determinant(const matrix<T, 2, 2>& m) {
    return m[0].x * m[1].y - m[0].y * m[1].x;
}
template <class T>
EAS_FUNC T determinant(const matrix<T, 3, 3>& m) {
    return dot(m[0], cross(m[1], m[2]));
}
template <class T>
EAS_FUNC T determinant(const matrix<T, 4, 4>& m) {
    const matrix<T, 3, 3> x(m[1].yzw, m[2].yzw, m[3].yzw), y(m[1].xzw, m[2].xzw, m[3].xzw);
    const matrix<T, 3, 3> z(m[1].xyw, m[2].xyw, m[3].xyw), w(m[1].xyz, m[2].xyz, m[3].xyz);
    return m[0].x * determinant(x) - m[0].y * determinant(y) + m[0].z * determinant(z) - m[0].w * determinant(w);
}
#undef EAS_IN_COLUMNS
#undef EAS_MATRIX

#define EAS_MATRICES(T)             \
    typedef matrix<T, 2, 2> T##2x2; \
    typedef matrix<T, 2, 3> T##2x3; \
    typedef matrix<T, 2, 4> T##2x4; \
    typedef matrix<T, 3, 2> T##3x2; \
    typedef matrix<T, 3, 3> T##3x3; \
    typedef matrix<T, 3, 4> T##3x4; \
    typedef matrix<T, 4, 2> T##4x2; \
    typedef matrix<T, 4, 3> T##4x3; \
    typedef matrix<T, 4, 4> T##4x4;
EAS_MATRICES(float)
EAS_MATRICES(half)
#undef EAS_MATRICES

}  // namespace metal
