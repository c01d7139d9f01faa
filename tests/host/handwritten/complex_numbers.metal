#include <metal_stdlib>
using namespace metal;

struct complex64 {
    float real;
    float imag;
    complex64() = default;
    constexpr complex64(float r, float i) : real(r), imag(i) {}
};
constexpr complex64 operator*(complex64 a, complex64 b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
constexpr complex64 operator+(complex64 a, complex64 b) {
    return {a.real + b.real, a.imag + b.imag};
}

template <typename T>
T horner(T x, device const T* coefficients, int degree) {
    T sum = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k) {
        sum = sum * x + coefficients[k];
    }
    return sum;
}

kernel void complex_numbers(device const complex64* x [[buffer(0)]],
                            device const complex64* coefficients [[buffer(1)]],
                            device complex64* y [[buffer(2)]],
                            constant int& degree [[buffer(3)]],
                            uint i [[thread_position_in_grid]]) {
    y[i] = horner(x[i], coefficients, degree);
}
