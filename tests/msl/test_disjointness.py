"""Proofs that accesses are disjoint."""

from __future__ import annotations

import math
import operator

import pytest

from eas.ir.aliasing.disjointness import (
    Form,
    are_disjoint,
    are_disjoint_across_trips,
    are_other_slots,
    is_injective,
)
from eas.ir.aliasing.lane_domains import owner_indices
from eas.ir.aliasing.masked_rows import are_masked_rows
from eas.ir.nodes import For, Store, Value, walk
from eas.ir.types import I32, Scalar
from eas.msl.analysis.facts import gather
from eas.support.records import replace
from tests.msl.texts import function_of

TWO_STORES = """
    %10: i32[64] = arange start=0 size=64
    %11: i32 = {factor}
    %12: i32[64] = splat %11 shape=[64]
    %13: i32[64] = mul %10, %12
    %14: i32 = {distance}
    %15: i32[64] = splat %14 shape=[64]
    %16: i32[64] = add %13, %15
    store %i.2[%13] = %10
    store %i.2[%16] = %10
"""


def forms_of(ops: str) -> list[Form]:
    facts = gather(function_of(ops))
    stores = [op for op in walk(facts.function.body) if isinstance(op, Store)]
    return [facts.forms.of(op.offset, owner_indices(op.offset.shape)) for op in stores]


@pytest.mark.parametrize(
    ("factor", "distance", "disjoint"),
    [(2, 1, True), (3, 2, True), (2, 2, False), (1, 64, True), (1, 63, False), (1, -64, True)],
)
def test_offsets_with_a_common_factor_or_far_apart_are_disjoint(
    factor: int, distance: int, disjoint: bool
) -> None:
    a, b = forms_of(TWO_STORES.format(factor=factor, distance=distance))
    assert are_disjoint(a, b) is disjoint


def test_an_offset_from_memory_may_be_anywhere() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32[64] = load %j.3[%10]
        store %i.2[%10] = %10
        store %i.2[%11] = %10
    """
    a, b = forms_of(ops)
    assert not are_disjoint(a, b)


@pytest.mark.parametrize(("factor", "injective"), [(1, True), (3, True), (0, False)])
def test_lanes_with_a_factor_have_offsets_of_their_own(factor: int, injective: bool) -> None:
    form, _ = forms_of(TWO_STORES.format(factor=factor, distance=0))
    assert is_injective(form, 64) is injective


def test_a_lane_beside_an_axis_of_unknown_stride_may_meet_another_one() -> None:
    """With a stride of -1 along the axis, all lanes would have one offset."""
    form, _ = forms_of(TWO_STORES.format(factor=1, distance=0))
    stride = Value(99, Scalar(I32), "")
    assert is_injective(Form(strided={stride: form}), 64)
    assert not is_injective(replace(form, strided={stride: form}), 64)


@pytest.mark.parametrize(("step", "moves"), [(64, True), (100, True), (63, False), (-64, True)])
def test_trips_are_disjoint_if_a_step_is_longer_than_the_lanes_reach(
    step: int, moves: bool
) -> None:
    ops = f"""
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        %12: i32 = {step}
        for %13: i32 = %11 .. %n.4 by %12 {{
          %14: i32[64] = splat %13 shape=[64]
          %15: i32[64] = add %10, %14
          store %i.2[%15] = %10
          yield
        }}
    """
    facts = gather(function_of(ops))
    loop = next(op for op in walk(facts.function.body) if isinstance(op, For))
    (form,) = forms_of(ops)
    assert are_disjoint_across_trips(form, form, loop, facts) is moves


def test_trips_may_meet_if_they_add_different_numbers_to_an_offset() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        %12: i32 = 64
        for %13: i32 = %11 .. %n.4 by %12 {
          %14: i32 = load %j.3[%13]
          %15: i32 = add %13, %14
          %16: i32[64] = splat %15 shape=[64]
          %17: i32[64] = add %10, %16
          store %i.2[%17] = %10
          yield
        }
    """
    facts = gather(function_of(ops))
    loop = next(op for op in walk(facts.function.body) if isinstance(op, For))
    (form,) = forms_of(ops)
    assert not are_disjoint_across_trips(form, form, loop, facts)


@pytest.mark.parametrize(("pitch", "injective"), [(8, True), (7, False)])
def test_rows_that_overlap_share_offsets(pitch: int, injective: bool) -> None:
    ops = f"""
        %10: i32[8] = arange start=0 size=8
        %11: i32[8, 1] = expand_dims %10 axis=1
        %12: i32[8, 8] = broadcast %11 shape=[8, 8]
        %13: i32[1, 8] = expand_dims %10 axis=0
        %14: i32[8, 8] = broadcast %13 shape=[8, 8]
        %15: i32 = {pitch}
        %16: i32[8, 8] = splat %15 shape=[8, 8]
        %17: i32[8, 8] = mul %12, %16
        %18: i32[8, 8] = add %17, %14
        store %i.2[%18] = %18
    """
    (form,) = forms_of(ops)
    assert is_injective(form, 64) is injective


@pytest.mark.parametrize(("rows", "injective"), [(8, True), (16, False), (4, False)])
def test_digits_of_an_index_are_injective_only_together(rows: int, injective: bool) -> None:
    ops = f"""
        %10: i32[8] = arange start=0 size=8
        %11: i32[1, 8] = expand_dims %10 axis=0
        %12: i32[8, 8] = broadcast %11 shape=[8, 8]
        %13: i32[{rows}] = arange start=0 size={rows}
        %14: i32[{rows}, 1] = expand_dims %13 axis=1
        %15: i32[{rows}, {64 // rows}] = broadcast %14 shape=[{rows}, {64 // rows}]
        %16: i32[8, 8] = reshape %15 shape=[8, 8]
        %17: i32 = 100
        %18: i32[8, 8] = splat %17 shape=[8, 8]
        %19: i32[8, 8] = mul %16, %18
        %20: i32[8, 8] = add %19, %12
        store %i.2[%20] = %20
    """
    if rows == 16:  # with its own quotient the index has a digit twice, and another one never
        ops = ops.replace("expand_dims %10 axis=0", "expand_dims %10 axis=1")
        ops = ops.replace("%11: i32[1, 8]", "%11: i32[8, 1]")
    (form,) = forms_of(ops)
    assert is_injective(form, 64) is injective


SLOTS = """
    %10: i32[64] = arange start=0 size=64
    %11: i32 = {first}
    %12: i32 = {second}
    %13: i32 = {slots}
    %14: i32 = {size}
    %15: i32 = add %n.4, %11
    %16: i32 = {op} %15, %13
    %17: i32 = mul %16, %14
    %18: i32[64] = splat %17 shape=[64]
    %19: i32[64] = add %18, %10
    %20: i32 = add %n.4, %12
    %21: i32 = {op} %20, %13
    %22: i32 = mul %21, %14
    %23: i32 = 63
    %24: i32 = add %22, %23
    %25: i32[64] = splat %24 shape=[64]
    %26: i32[64] = sub %25, %10
    store %i.2[%19] = %10
    store %i.2[%26] = %10
"""


@pytest.mark.parametrize("op", ["mod", "truncmod"])
@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 63, 64, -64, 100])
@pytest.mark.parametrize("first", [-1, 0, 1, 2, 3])
def test_slots_of_a_ring_buffer_are_apart_where_their_numbers_and_sizes_say_so(
    op: str, slots: int, size: int, first: int
) -> None:
    ops = SLOTS.format(op=op, slots=slots, size=size, first=first, second=1)
    a, b = forms_of(ops)
    remainder = operator.mod if op == "mod" else math.fmod
    are_apart = all(
        abs(remainder(n + first, slots) - remainder(n + 1, slots)) * abs(size) > 63
        for n in range(-6, 6)
    )
    assert are_other_slots(a, b, gather(function_of(ops))) is are_apart


def test_numbers_that_may_wrap_are_in_other_slots_only_of_a_power_of_two() -> None:
    """`n + first` and `n + second` are 2**30 - 2 apart, and less 2**32 if only one wraps."""
    for slots in (2, 3, 4):
        ops = SLOTS.format(op="mod", slots=slots, size=64, first=2**30 + 1, second=2**30 * 2 - 1)
        a, b = forms_of(ops)
        are_other = are_other_slots(a, b, gather(function_of(ops)))
        assert are_other is (slots == 4)


@pytest.mark.parametrize(("name", "are_other"), [("add", True), ("sub", False)])
def test_an_unsigned_number_below_zero_may_be_in_the_slot_of_zero(
    name: str, are_other: bool
) -> None:
    ops = SLOTS.format(op="mod", slots=3, size=64, first=1, second=0)
    ops = ops.replace("add %n.4, %11", f"{name} %n.4, %11")
    for number in (11, 12, 13, 15, 16, 20, 21):
        ops = ops.replace(f"%{number}: i32 =", f"%{number}: u32 =")
    for number in (16, 21):
        ops = ops.replace(f"mul %{number},", f"mul %{number + 20},").replace(
            f"%{number + 1}: i32 = mul",
            f"%{number + 20}: i32 = cast %{number} dtype=i32\n%{number + 1}: i32 = mul",
        )
    ops = "%30: u32 = cast %n.4 dtype=u32" + ops.replace("%n.4", "%30")
    a, b = forms_of(ops)
    assert are_other_slots(a, b, gather(function_of(ops))) is are_other


def test_digits_that_overlap_do_not_determine_an_index() -> None:
    """Of 60 lanes, 5 and 9 agree in the index modulo 4, in a third modulo 2, and in a fifth."""
    ops = """
        %10: i32[4] = arange start=0 size=4
        %11: i32[1, 4] = expand_dims %10 axis=0
        %12: i32[15, 4] = broadcast %11 shape=[15, 4]
        %13: i32[60] = reshape %12 shape=[60]
        %14: i32[2] = arange start=0 size=2
        %15: i32[2, 1] = expand_dims %14 axis=1
        %16: i32[1, 2, 1] = expand_dims %15 axis=0
        %17: i32[10, 2, 3] = broadcast %16 shape=[10, 2, 3]
        %18: i32[60] = reshape %17 shape=[60]
        %19: i32[12] = arange start=0 size=12
        %20: i32[12, 1] = expand_dims %19 axis=1
        %21: i32[12, 5] = broadcast %20 shape=[12, 5]
        %22: i32[60] = reshape %21 shape=[60]
        %23: i32 = 4
        %24: i32[60] = splat %23 shape=[60]
        %25: i32[60] = mul %18, %24
        %26: i32 = 8
        %27: i32[60] = splat %26 shape=[60]
        %28: i32[60] = mul %22, %27
        %29: i32[60] = add %13, %25
        %30: i32[60] = add %29, %28
        store %i.2[%30] = %30
    """
    (form,) = forms_of(ops)
    assert not is_injective(form, 60)


MASKED_ROWS = """
    %10: i32[8] = arange start=0 size=8
    %11: i32[8, 1] = expand_dims %10 axis=1
    %12: i32[8, 8] = broadcast %11 shape=[8, 8]
    %13: i32[8, 8] = splat %n.4 shape=[8, 8]
    %14: i32[8, 8] = mul %12, %13
    %15: i32[8] = arange start={lane} size=8
    %30: i32 = 0
    %16: i32 = {start}
    %17: i32 = {step}
    %28: i32 = for %18: i32 = %16 .. %n.4 by %17 carrying (%19: i32 = %16) {{
      %20: i32 = {name} {number}, %30
      %21: i32[8] = splat %20 shape=[8]
      %22: i32[8] = add %21, %15
      %23: i32[1, 8] = expand_dims %22 axis=0
      %24: i32[8, 8] = broadcast %23 shape=[8, 8]
      %25: bool[8, 8] = lt %24, %13
      %26: i32[8, 8] = add %14, %24
      store %i.2[%26] = %26 if %25
      %27: i32 = sub %19, %17
      yield %27
    }} else (%29: i32)
"""
NATURAL = {"lane": 0, "start": 0, "step": 8, "name": "add", "number": "%18"}


@pytest.mark.parametrize(
    "change",
    [{}, {"lane": -8}, {"start": -8}, {"step": -8}, {"name": "sub"}, {"number": "%19"}],
)
def test_masked_rows_are_apart_if_no_column_is_left_of_them(change: dict[str, object]) -> None:
    facts = gather(function_of(MASKED_ROWS.format(**{**NATURAL, **change})))
    (store,) = (op for op in walk(facts.function.body) if isinstance(op, Store))
    indices = owner_indices(store.offset.shape)
    are_apart = are_masked_rows(store.offset, store.mask, indices, 64, facts)
    assert are_apart is (not change)
