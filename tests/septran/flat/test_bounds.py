"""Proofs about affine expressions hold for all values, and cover what tiles need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eas.septran.flat.affine import Affine, affine, ceil_div, maximum, minimum
from eas.septran.flat.bounds import Scope
from eas.septran.flat.nodes import Comparison


@st.composite
def scopes(draw: st.DrawFn) -> tuple[Scope, Affine]:
    """Two loops, perhaps a condition, and a number of their variables and a size."""
    small = st.integers(-4, 4)
    extents = st.one_of(
        st.integers(0, 4).map(affine),
        st.integers(1, 4).map(lambda n: ceil_div("M", n)),
        st.integers(1, 4).map(lambda n: minimum(n, "M")),
    )
    scope = Scope().inside_loop("i", draw(extents)).inside_loop("k", draw(extents))

    def number() -> Affine:
        total = affine(draw(small))
        for name in ("i", "k", "M"):
            total += affine(name) * draw(small)
        match draw(st.integers(0, 4)):
            case 0:
                return minimum(total, affine("M") - affine("i") * draw(small))
            case 1:
                return maximum(total, affine("k") * draw(small))
            case 2:
                return total // draw(st.integers(1, 4)) + affine("i") * draw(small)
            case 3:
                return total % draw(st.integers(1, 4)) - affine("k")
            case _:
                return total

    if draw(st.booleans()):
        comparison = draw(st.sampled_from(get_args(Comparison)))
        scope = scope.inside_if(number(), comparison, number())
    return scope, number()


def values_in(scope: Scope) -> Iterator[dict[str, int]]:
    for size in range(1, 8):
        (_, outer), (_, inner) = scope.loops
        for i in range(outer.evaluate({"M": size})):
            for k in range(inner.evaluate({"M": size, "i": i})):
                values = {"M": size, "i": i, "k": k}
                if all(fact.evaluate(values) >= 0 for fact in scope.facts):
                    yield values


@settings(max_examples=300)
@given(scopes())
def test_what_is_proved_holds_for_all_values(drawn: tuple[Scope, Affine]) -> None:
    scope, number = drawn
    if scope.proves(number):
        assert all(number.evaluate(values) >= 0 for values in values_in(scope))


TILES = Scope().inside_loop("i", ceil_div("M", 32)).inside_loop("k", ceil_div("K", 8))
ROWS = minimum(32, affine("M") - affine("i") * 32)
AHEAD = affine("k") + 2
NEXT = minimum(8, affine("K") - AHEAD * 8)


@pytest.mark.parametrize(
    ("scope", "number"),
    [
        (TILES, affine("M") - affine("i") * 32 - ROWS),
        (TILES, ROWS - 1),
        (TILES, 32 - ROWS),
        (TILES, 2 - AHEAD % 3),
        (TILES.inside_if(AHEAD, "<", ceil_div("K", 8)), affine("K") - AHEAD * 8 - NEXT),
        (TILES.inside_if(AHEAD, "<", ceil_div("K", 8)), NEXT - 1),
    ],
)
def test_tiles_with_tails_are_proved_to_be_inside(scope: Scope, number: Affine) -> None:
    assert scope.proves(number)


def test_a_tile_that_is_too_early_is_refuted_by_values() -> None:
    assert not TILES.proves(NEXT)
    values = TILES.counterexample(frozenset(("K",)), lambda v: NEXT.evaluate(v) >= 0)
    assert values is not None
    assert NEXT.evaluate(values) < 0


@pytest.mark.parametrize(
    "number",
    [
        affine("i") // 2 * 2 - "i",
        affine("i") - affine("i") // 2 * 2 - 1,
        affine("k") % 3 - 1,
        1 - affine("k") % 3,
        minimum("i", "k") - "i",
        affine("k") - maximum("i", "k"),
        affine("M") - 2,
        9 - affine("M"),
        affine("i") - 1,
    ],
)
def test_what_is_sometimes_false_is_not_proved(number: Affine) -> None:
    assert not TILES.proves(number)
