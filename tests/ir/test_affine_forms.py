"""Affine forms of integers: what they look through, and what is a symbol."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eas.ir.aliasing.affine_forms import (
    AffineForms,
    Form,
    is_int_conversion,
    is_never,
    own_indices,
)
from eas.ir.aliasing.lane_indices import Part, Symbol
from eas.ir.nodes import Compute, results_of, walk
from tests.ir.texts import function_of

LANE = "%7: i32[8] = arange start=2 size=8\n%8: i32[8] = splat %n.1 shape=[8]\n"
SUM = f"{LANE}%9: i32[8] = add %7, %8\n"


def form_of(ops: str, is_same: Callable[[Compute], bool] = is_int_conversion) -> str:
    """The form of the last value, with `n` for the parameter and `i`, `j` for the coordinates."""
    function = function_of(f"{ops}yield\n")
    definitions = {value.id: op for op in walk(function.body) for value in results_of(op)}
    value = list(definitions.values())[-1]
    assert isinstance(value, Compute)
    forms = AffineForms(lambda each: definitions.get(each.id), is_same)
    return spell(forms.of(value.result, own_indices(value.result.shape)))


def spell(form: Form) -> str:
    terms = [(factor, spell_part(part)) for part, factor in form.lanes.items()]
    terms += [(factor, value.hint or f"%{value.id}") for value, factor in form.shared.items()]
    terms += [(factor, f"?{value.id}") for (value, _), factor in form.unknown.items()]
    found = [name if factor == 1 else f"{factor} * {name}" for factor, name in terms]
    return " + ".join([*found, *([str(form.constant)] if form.constant or not found else [])])


def spell_part(part: Part) -> str:
    assert isinstance(part.base, Symbol)
    name = "ij"[int(part.base.name.removeprefix("axis "))]
    divided = name if part.divisor == 1 else f"{name} / {part.divisor}"
    return f"{divided} % {part.modulus}" if part.modulus else divided


CASES = {
    "a range starts at its constant": (LANE.split("\n")[0] + "\n", "i + 2"),
    "a sum adds uniform values": (SUM, "i + n + 2"),
    "a difference of equal values is zero": (f"{LANE}%9: i32[8] = sub %7, %7\n", "0"),
    "a product by a constant multiplies": (
        f"{SUM}%10: i32 = 3\n%11: i32[8] = splat %10 shape=[8]\n%12: i32[8] = mul %11, %9\n",
        "3 * i + 3 * n + 6",
    ),
    "a product of two lanes is a symbol": (f"{LANE}%9: i32[8] = mul %7, %7\n", "?9"),
    "a uniform product is a uniform symbol": (f"{LANE}%9: i32[8] = mul %8, %8\n", "%9"),
    "a uniform function is a uniform symbol": (f"{LANE}%9: i32[8] = minimum %8, %8\n", "%9"),
    "a function of a lane is a symbol": (f"{LANE}%9: i32[8] = minimum %7, %8\n", "?9"),
    "an axis that is broadcast has one coordinate": (
        "%7: i32[1] = arange start=2 size=1\n%8: i32[8] = broadcast %7 shape=[8]\n",
        "2",
    ),
    "a new axis shifts the others": (
        f"{LANE}%9: i32[1, 8] = expand_dims %7 axis=0\n%10: i32[4, 8] = broadcast %9 shape=[4,8]\n",
        "j + 2",
    ),
    "axes are swapped": (
        f"{LANE}%9: i32[1, 8] = expand_dims %7 axis=0\n%10: i32[8, 1] = permute %9 axes=[1, 0]\n",
        "i + 2",
    ),
    "a slice multiplies its coordinate": (
        f"{LANE}%9: i32[2] = slice %7 starts=[1] sizes=[2] steps=[3]\n",
        "3 * i + 3",
    ),
    "a conversion of integers is looked through": (
        f"{SUM}%10: i64[8] = cast %9 dtype=i64\n",
        "i + n + 2",
    ),
    "what a narrower type keeps of a number is a symbol": (
        f"{SUM}%10: u8[8] = cast %9 dtype=u8\n",
        "?10",
    ),
    "a sum of a type that wraps on purpose is a symbol": (
        f"{LANE}%9: u16[8] = cast %7 dtype=u16\n%10: u16[8] = add %9, %9\n",
        "?10",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_form_of_a_value(name: str) -> None:
    ops, expected = CASES[name]
    assert form_of(ops) == expected


def test_an_exact_form_looks_through_no_conversion() -> None:
    assert form_of(f"{SUM}%10: i64[8] = cast %9 dtype=i64\n", is_never) == "?10"


@pytest.mark.parametrize("name", ["thread_index", "lane_index"])
def test_only_the_index_of_a_thread_is_a_coordinate(name: str) -> None:
    expected = {"thread_index": "i", "lane_index": "?7"}
    assert form_of(f"%7: i32[64] = {name} size=64\n") == expected[name]


def test_the_scalar_in_all_lanes_is_found_through_changes_of_shape() -> None:
    function = function_of(
        f"{LANE}%9: i32[1, 8] = expand_dims %8 axis=0\n%10: i32[8] = add %8, %8\nyield\n"
    )
    definitions = {value.id: op for op in walk(function.body) for value in results_of(op)}
    forms = AffineForms(lambda value: definitions.get(value.id))
    results = [value for op in walk(function.body) for value in results_of(op)]
    n = function.params[1].value
    assert [forms.scalar(value) for value in results] == [None, n, n, None]
