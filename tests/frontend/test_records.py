"""Named tuples, frozen dataclasses and lists: as Python has them, or refused."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import eas
from tests.frontend.running import codes_of, same_as_cpython


class Interval(NamedTuple):
    low: int
    high: int = 9

    def width(self, scale=1):
        return (self.high - self.low) * scale

    @property
    def middle(self):
        if self.high < 0:
            return self.low
        return (self.low + self.high) // 2

    @staticmethod
    def twice(x):
        return 2 * x


@dataclass(frozen=True)
class Box:
    left: int
    right: int = field(default=4, kw_only=True)
    kind: int = field(default=7, init=False)
    LIMIT: ClassVar[int] = 5

    def clipped(self):
        return dataclasses.replace(self, left=min(self.left, self.LIMIT))


class InPlace(NamedTuple):
    x: int

    def __iadd__(self, other):
        return InPlace(self.x + other.x)


@dataclass(frozen=True)
class Complex:
    re: int
    im: int

    def __add__(self, other):
        if not isinstance(other, Complex):
            return Complex(self.re + other, self.im)
        return Complex(self.re + other.re, self.im + other.im)

    __radd__ = __add__

    def __mul__(self, other):
        re = self.re * other.re - self.im * other.im
        return Complex(re, self.re * other.im + self.im * other.re)

    def __matmul__(self, other):
        return self.re * other.re + self.im * other.im

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def __abs__(self):
        return self @ self

    def __lt__(self, other):
        return self.re < other.re

    def __eq__(self, other):
        return self.re == other.re


@dataclass(frozen=True)
class Real(Complex):
    def __radd__(self, other):
        return NotImplemented

    def __rsub__(self, other):
        return other


class Doubling(namedtuple("Doubling", "a b")):
    def __new__(cls, a):
        return super().__new__(cls, a, 2 * a)


@dataclass(frozen=True)
class Starting:
    a: int

    def __init__(self, a):
        object.__setattr__(self, "a", a + 1)


@dataclass(frozen=True)
class Making:
    a: int
    b: tuple[int, ...] = field(default_factory=lambda: (1, 2))


@dataclass(frozen=True, eq=False)
class Unequal:
    a: int


@dataclass(frozen=True)
class Replacing:
    a: int

    def __replace__(self, **changes):
        return Replacing(0)


def of_a_command_line() -> type:
    """A record as `python -c` has it, whose file is that of generated code."""
    text = """
@dataclass(frozen=True)
class Counted:
    a: int

    def __len__(self):
        return 2
"""
    names = {"dataclass": dataclass, "__name__": __name__}
    exec(compile(text, "<string>", "exec"), names)
    return names["Counted"]


UNIT = Interval(0, 1)
PAIR = (2, 3)


def test_a_method_of_a_record_is_inlined() -> None:
    same_as_cpython(lambda n: Interval(n).width() + Interval(n, high=n * n).width(scale=3))


def test_a_property_of_a_record_is_computed() -> None:
    same_as_cpython(lambda n: Interval(n, n - 1).middle)


def test_a_static_method_is_called_without_the_record() -> None:
    same_as_cpython(lambda n: Interval(n).twice(n))


def test_replace_gives_a_record_with_other_parts() -> None:
    same_as_cpython(lambda n: Interval(n)._replace(high=n * 2).width() + UNIT._replace(low=n).low)


def test_a_dataclass_is_replaced_by_a_method_of_its_own() -> None:
    same_as_cpython(lambda n: Box(n, right=2).clipped().left + Box(n).right + Box(n).kind)


def test_a_constant_of_the_class_is_read_through_a_record() -> None:
    same_as_cpython(lambda n: Box(n).LIMIT + Box.LIMIT)


def test_a_method_of_an_object_that_is_known_is_inlined() -> None:
    same_as_cpython(lambda n: UNIT.width(n) + UNIT.middle)


IMAGINARY = Complex(0, 1)


def test_an_operator_of_a_record_is_its_method() -> None:
    same_as_cpython(lambda n: (Complex(n, 2) * IMAGINARY + Complex(1, n)).im)


def test_an_operator_on_the_right_side_is_its_reflected_method() -> None:
    same_as_cpython(lambda n: (n + IMAGINARY + n).re + (n - Real(1, 2)))


def test_a_method_that_is_not_implemented_leaves_the_operator_to_the_other_side() -> None:
    same_as_cpython(lambda n: (Complex(n, n) + Real(n, 1)).re)


def test_unary_operators_of_a_record_are_its_methods() -> None:
    same_as_cpython(lambda n: (-Complex(n, 3)).re + abs(Complex(n, 4)))


def test_the_operator_of_matrices_of_a_record_is_its_method() -> None:
    same_as_cpython(lambda n: Complex(n, 3) @ Complex(2, n))


def test_comparisons_of_records_are_their_methods() -> None:
    def compare(n):
        z = Complex(n, 7)
        return (z < IMAGINARY) + 2 * (z == IMAGINARY) + 4 * (z != IMAGINARY)

    same_as_cpython(compare)


def test_an_augmented_assignment_uses_the_operator_of_a_record() -> None:
    def power(n):
        z = IMAGINARY
        for _ in range(3):
            z *= Complex(n, 1)
        return z.re

    same_as_cpython(power)


def test_a_record_from_outside_is_changed_in_a_branch() -> None:
    def choose(n):
        z = IMAGINARY
        if n > 0:
            z = Complex(n, n)
        return z.re + z.im

    same_as_cpython(choose)


def test_a_tuple_from_outside_is_changed_in_a_loop() -> None:
    def run(n):
        t = PAIR
        for i in range(4):
            t = (t[0] + i, t[1] + n)
        return t[0] * t[1]

    same_as_cpython(run)


def test_an_operator_that_no_side_has_is_refused() -> None:
    def kernel(out, n):
        out[0] = (Complex(n, 1) - Complex(1, n)).re  # pyright: ignore[reportOperatorIssue]

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0309"]


def test_a_field_that_is_given_by_name_only_is_not_taken_by_place() -> None:
    def kernel(out, n):
        out[0] = Box(n, 3).left  # pyright: ignore[reportCallIssue]

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0427"]


@pytest.mark.parametrize(
    "make", [InPlace, Doubling, Starting, Making, Replacing, of_a_command_line()]
)
def test_a_record_with_code_that_would_not_run_is_refused(make: type) -> None:
    def kernel(out, n):
        record = make(n)
        out[0] = record[0]

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0419"]


def test_a_dataclass_is_no_sequence() -> None:
    def kernel(out, n):
        left, right, kind = Box(n)  # pyright: ignore[reportGeneralTypeIssues]
        out[0] = left

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0406"]


def test_records_are_equal_as_in_python() -> None:
    def f(n):
        same = Interval(n, 2) == (n, 2), Box(n) == Box(3), Box(n) == (n, 4, 7), Box(n) != Box(n)
        return sum(2**k * each for k, each in enumerate(same))

    same_as_cpython(f)


def test_dataclasses_that_are_compared_by_identity_are_refused() -> None:
    def kernel(out, n):
        out[0] = Unequal(n) == Unequal(n)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0309"]


def test_a_list_is_never_equal_to_a_tuple() -> None:
    def f(n):
        first, *rest = (n, 1, 2)
        same = [n] == (n,), [n] == [3], rest == (1, 2), rest == [1, n], (n, 1)[:1] == [n]
        return sum(2**k * each for k, each in enumerate(same))

    same_as_cpython(f)


def test_a_tuple_is_never_equal_to_a_number() -> None:
    same_as_cpython(lambda n: ((n,) == n) + 2 * ((n, 1) != None))  # noqa: E711


def test_a_list_and_a_tuple_cannot_be_added() -> None:
    def kernel(out, n):
        out[0] = len([n] + (1,))  # pyright: ignore[reportOperatorIssue]  # noqa: RUF005

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0309"]


def test_changing_a_list_is_refused_for_others_may_hold_it() -> None:
    def kernel(out, n):
        a = [n]
        b = a
        a += [3]
        out[0] = len(b)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0408"]


def test_an_iterator_that_is_kept_is_refused() -> None:
    def kernel(out, n):
        pairs = zip((n, 1), (2, 3), strict=True)
        out[0] = sum(a * b for a, b in pairs)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0113"]


def test_lists_and_records_are_printed_as_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    @eas.kernel
    def kernel(n):
        print([n, 1], (n,), Interval(n), [Box(n)], f"{n=} {(n, 2)!r} {7:03}")

    kernel[1](3, _backend="interpret")
    printed = capsys.readouterr().out
    kernel.fn(3)
    assert printed == capsys.readouterr().out


def test_records_of_constants_are_taken_from_the_module() -> None:
    out = np.zeros(1, np.int32)

    @eas.kernel
    def kernel(out, n):
        low, high = UNIT
        out[0] = low + high + n

    kernel[1](out, 3, _backend="interpret")
    assert out[0] == 4
