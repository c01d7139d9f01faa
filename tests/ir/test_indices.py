"""Index expressions: what a change of shape reads, for every element."""

from __future__ import annotations

import numpy as np
import pytest

from eas.ir.aliasing.lane_indices import (
    Index,
    Part,
    Symbol,
    add,
    coordinates,
    digit,
    fixed,
    linear,
    make_index,
    make_part,
    make_symbol,
    of,
    operand_indices,
    scale,
)
from eas.ir.builder import Builder
from eas.ir.nodes import Compute
from eas.ir.types import I32, Block, Pointer, Shape, count

E = make_symbol("e", 24)


def value_of(index: Index, e: int) -> int:
    return index.offset + sum(factor * _part(part, e) for factor, part in index.terms)


def _part(part: Part, e: int) -> int:
    base = e if isinstance(part.base, Symbol) else value_of(part.base, e)
    return base // part.divisor % (part.modulus or base + 1)


CHAINS: list[tuple[Shape, list[tuple[str, dict[str, Shape]]]]] = [
    ((4, 6), [("permute", {"axes": (1, 0)})]),
    ((4, 6), [("reshape", {"shape": (3, 8)}), ("permute", {"axes": (1, 0)})]),
    ((2, 3, 4), [("permute", {"axes": (2, 0, 1)}), ("reshape", {"shape": (6, 4)})]),
    ((24,), [("slice", {"starts": (23,), "sizes": (12,), "steps": (-2,)})]),
    ((1, 6), [("broadcast", {"shape": (4, 6)}), ("reshape", {"shape": (24,)})]),
    (
        (4, 6),
        [
            ("slice", {"starts": (1, 5), "sizes": (3, 2), "steps": (1, -3)}),
            ("reshape", {"shape": (2, 3)}),
            ("permute", {"axes": (1, 0)}),
        ],
    ),
]


@pytest.mark.parametrize(("shape", "chain"), CHAINS)
def test_views_read_what_numpy_reads(
    shape: Shape, chain: list[tuple[str, dict[str, Shape]]]
) -> None:
    build = Builder()
    value = build.load(build.value(Pointer(I32)), build.value(Block(I32, shape)))
    expected = np.arange(count(shape)).reshape(1, *shape)
    ops: list[Compute] = []
    for name, attrs in chain:
        value = build.compute(name, value, **attrs)
        op = build.ops[-1]
        assert isinstance(op, Compute)
        ops.append(op)
        expected = np.broadcast_to(op.op.meaning(expected, **attrs), (1, *value.shape))
    indices = coordinates(of(make_symbol("e", count(value.shape))), value.shape)
    for op in reversed(ops):
        indices = operand_indices(op, indices)
    index = linear(indices, shape)
    found = [value_of(index, e) for e in range(count(value.shape))]
    assert found == expected.ravel().tolist()


def test_coordinates_of_the_whole_are_the_whole_again() -> None:
    assert linear(coordinates(of(E), (2, 3, 4)), (2, 3, 4)) is of(E)


def test_a_digit_of_a_digit_is_one_digit() -> None:
    assert digit(digit(of(E), 2, 12), 3, 4) is make_index(((1, make_part(E, 6, 0)),), 0)


def test_a_remainder_does_not_see_multiples() -> None:
    index = add(scale(of(E), 8), fixed(3))
    assert digit(index, 1, 8) is fixed(3)


def test_a_quotient_of_multiples_is_exact() -> None:
    index = add(scale(of(E), 8), fixed(3))
    assert digit(index, 8, 24) is of(E)


def test_a_symbol_with_one_value_is_zero() -> None:
    assert of(make_symbol("e", 1)) is fixed(0)
