"""z**3 + c of complex numbers, which are a named tuple with helpers of their own."""

from typing import Any, NamedTuple

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


class Complex(NamedTuple):
    real: Any
    imag: Any


def multiply(a, b):
    return Complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


@eas.kernel
def complex_polynomial(z, w, N, C: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    value = Complex(mk.load(z, 2 * offs, mask), mk.load(z, 2 * offs + 1, mask))
    real, imag = multiply(multiply(value, value), value)
    mk.store(w, 2 * offs, real + C.real, mask)
    mk.store(w, 2 * offs + 1, imag + C.imag, mask)


def arguments() -> Arguments:
    return {
        "z": floats(99, 2),
        "w": np.zeros((99, 2), "f4"),
        "N": 99,
        "C": Complex(0.25, -0.5),
        "BLOCK": 64,
    }


def reference(z: Array, **_: object) -> dict[str, Array]:
    values = z.astype("f8").view("c16").ravel() ** 3 + (0.25 - 0.5j)
    return {"w": np.stack([values.real, values.imag], axis=1)}


CASE = Case(complex_polynomial, arguments, reference, tolerance=1e-6)
