// Vectors as geometry, and small matrices.
#pragma once

namespace metal {

template <class T, int n>
inline eas_real<T> dot(vec<T, n> x, vec<T, n> y) {
    T sum = x[0] * y[0];
    for (int i = 1; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}
template <class T, int n>
inline eas_real<T> length_squared(vec<T, n> x) {
    return dot(x, x);
}
template <class T, int n>
inline eas_real<T> length(vec<T, n> x) {
    return sqrt(dot(x, x));
}
template <class T, int n>
inline eas_real<T> distance(vec<T, n> x, vec<T, n> y) {
    return length(x - y);
}
template <class T, int n>
inline vec<T, n> normalize(vec<T, n> x) {
    return x * rsqrt(dot(x, x));
}
template <class T>
inline vec<T, 3> cross(vec<T, 3> x, vec<T, 3> y) {
    return x.yzx * y.zxy - x.zxy * y.yzx;
}
template <class T, int n>
inline vec<T, n> reflect(vec<T, n> x, vec<T, n> normal) {
    return x - T(2) * dot(normal, x) * normal;
}

// Columns of vectors, as in Metal.
template <class T, int columns, int rows>
struct matrix {
    vec<T, rows> eas_columns[columns];
    matrix() = default;
    explicit matrix(T diagonal) {
        for (int i = 0; i < columns; ++i) {
            eas_columns[i] = T(0);
            if (i < rows) {
                eas_columns[i][i] = diagonal;
            }
        }
    }
    template <class... Rest>
    matrix(vec<T, rows> first, vec<T, rows> second, Rest... rest) : eas_columns{first, second, rest...} {}
    vec<T, rows>& operator[](int i) { return eas_columns[i]; }
    const vec<T, rows>& operator[](int i) const { return eas_columns[i]; }
};
template <class T, int columns, int rows>
inline vec<T, rows> operator*(const matrix<T, columns, rows>& m, vec<T, columns> x) {
    vec<T, rows> sum = m[0] * x[0];
    for (int i = 1; i < columns; ++i) {
        sum += m[i] * x[i];
    }
    return sum;
}
template <class T, int k, int rows, int columns>
inline matrix<T, columns, rows> operator*(const matrix<T, k, rows>& x, const matrix<T, columns, k>& y) {
    matrix<T, columns, rows> product;
    for (int i = 0; i < columns; ++i) {
        product[i] = x * y[i];
    }
    return product;
}
template <class T, int columns, int rows>
inline matrix<T, rows, columns> transpose(const matrix<T, columns, rows>& m) {
    matrix<T, rows, columns> turned;
    for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < rows; ++j) {
            turned[j][i] = m[i][j];
        }
    }
    return turned;
}
#define EAS_MATRICES(T)              \
    typedef matrix<T, 2, 2> T##2x2;  \
    typedef matrix<T, 2, 3> T##2x3;  \
    typedef matrix<T, 2, 4> T##2x4;  \
    typedef matrix<T, 3, 2> T##3x2;  \
    typedef matrix<T, 3, 3> T##3x3;  \
    typedef matrix<T, 3, 4> T##3x4;  \
    typedef matrix<T, 4, 2> T##4x2;  \
    typedef matrix<T, 4, 3> T##4x3;  \
    typedef matrix<T, 4, 4> T##4x4;
EAS_MATRICES(float)
EAS_MATRICES(half)
#undef EAS_MATRICES

}  // namespace metal
