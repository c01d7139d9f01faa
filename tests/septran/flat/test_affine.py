"""Affine expressions: one normal form, and the value that the written expression has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eas.septran.flat.affine import (
    Affine,
    AffineError,
    affine,
    ceil_div,
    compare,
    maximum,
    minimum,
)

NAMES = ("i", "j", "M", "N")


@st.composite
def pairs(draw: st.DrawFn, depth: int = 3) -> tuple[Affine, dict[str, int], int]:
    """An expression, values for its names, and what Python makes of the same operations."""
    values = {name: draw(st.integers(-40, 40)) for name in NAMES}

    def build(depth: int) -> tuple[Affine, int]:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            if draw(st.booleans()):
                name = draw(st.sampled_from(NAMES))
                return affine(name), values[name]
            number = draw(st.integers(-20, 20))
            return affine(number), number
        (left, a), (right, b) = build(depth - 1), build(depth - 1)
        divisor = draw(st.integers(1, 7))
        match draw(st.sampled_from(["+", "-", "*", "//", "%", "min", "max"])):
            case "+":
                return left + right, a + b
            case "-":
                return left - right, a - b
            case "*":
                return left * (divisor - 3), a * (divisor - 3)
            case "//":
                return left // divisor, a // divisor
            case "%":
                return left % divisor, a % divisor
            case "min":
                return minimum(left, right), min(a, b)
            case _:
                return maximum(left, right), max(a, b)

    expression, expected = build(depth)
    return expression, values, expected


@given(pairs())
def test_the_normal_form_has_the_value_of_the_operations(
    drawn: tuple[Affine, dict[str, int], int],
) -> None:
    expression, values, expected = drawn
    assert expression.evaluate(values) == expected


@given(pairs())
def test_substituting_all_names_gives_the_value(drawn: tuple[Affine, dict[str, int], int]) -> None:
    expression, values, expected = drawn
    assert expression.substitute(values) == affine(expected)


@given(pairs())
def test_substituting_a_name_by_itself_changes_nothing(
    drawn: tuple[Affine, dict[str, int], int],
) -> None:
    assert drawn[0].substitute({name: name for name in NAMES}) == drawn[0]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (affine("i") * 2 + "j" - "i", affine("j") + "i"),
        ((affine("i") * 6 + 5) // 3, affine("i") * 2 + 1),
        ((affine("i") // 3) // 4, affine("i") // 12),
        ((affine("i") * 4 + 2) % 2, affine(0)),
        (minimum("i", affine("i") + 1, "j"), minimum("j", "i")),
        (minimum(minimum(3, "i"), "j"), minimum("i", 3, "j")),
        (maximum("i", affine("i") - 2), affine("i")),
    ],
)
def test_equal_expressions_have_one_normal_form(left: Affine, right: Affine) -> None:
    assert left == right
    assert str(left) == str(right)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (affine("M") - affine("i") * 32, "M - 32*i"),
        (ceil_div("M", 32) * 2 - 1, "2*((M + 31) // 32) - 1"),
        (minimum(32, affine("M") - affine("i") * 32), "min(32, M - 32*i)"),
        ((affine("k") + 1) % 2, "(k + 1) % 2"),
        (affine(0), "0"),
        (-affine("i"), "-i"),
        (-(affine("i") // 2) - 1, "-(i // 2) - 1"),
        (affine("i") * -2 - 3, "-2*i - 3"),
    ],
)
def test_an_expression_reads_as_one_writes_it(expression: Affine, text: str) -> None:
    assert str(expression) == text


def test_the_order_is_known_where_the_difference_is_constant() -> None:
    assert compare(affine("i") + 1, "i") == 1
    assert compare("i", "i") == 0
    assert compare(affine("i") - 2, "i") == -1
    assert compare("i", "j") is None


def test_a_product_of_two_names_is_refused() -> None:
    with pytest.raises(AffineError, match="`i` times `M` is not affine"):
        _ = affine("i") * affine("M")
