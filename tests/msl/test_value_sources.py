"""Where lanes get the elements of values from."""

from __future__ import annotations

import pytest

from eas.ir.aliasing.lane_domains import Domain, owner_indices
from eas.ir.nodes import Value
from eas.ir.types import Shape
from eas.msl.layout.layout import Layout
from eas.msl.schedule.value_sources import Finder, Needs, Source, where_is
from tests.msl.texts import layout_of

# %12 is expensive, so its owners compute it and stage it for the lanes of %14.
STAGED_ROW = """
    %10: i32[8] = arange start=0 size=8
    %11: f32[8] = load %a.0[%10]
    %12: f32[8] = exp %11
    %13: f32[8, 1] = expand_dims %12 axis=1
    %14: f32[8, 4] = broadcast %13 shape=[8, 4]
    %15: i32[32] = arange start=0 size=32
    %16: i32[8, 4] = reshape %15 shape=[8, 4]
    %17: f32[8, 4] = splat %x.5 shape=[8, 4]
    %18: f32[8, 4] = add %14, %17
    store %b.1[%16] = %18
"""

# The rows of %12 are too large to be staged: the result of %13 lies in threadgroup memory only.
CHUNKED = """
    %10: i32[8320] = arange start=0 size=8320
    %11: i32[128, 65] = reshape %10 shape=[128, 65]
    %12: f32[128, 65] = load %a.0[%11]
    store %a.0[%11] = %12
    %13: f32[128] = reduce_max %12 axis=1
    %14: i32[128] = arange start=0 size=128
    store %b.1[%14] = %13
"""


def value_of(layout: Layout, number: int) -> Value:
    values = [*layout.facts.born, *(param.value for param in layout.facts.function.params)]
    return next(value for value in values if value.id == number)


def source_of(ops: str, number: int, domain: Shape) -> Source:
    """Where the lanes of a domain get their element of a value from."""
    layout = layout_of(ops)
    value, lanes = value_of(layout, number), Domain(domain)
    return where_is(value, lanes.indices_of(value.shape), lanes.extent, layout)


@pytest.mark.parametrize(
    ("number", "domain", "source"),
    [
        (5, (8, 4), Source.UNIFORM),
        (12, (8,), Source.OWNED),
        (13, (8,), Source.REMATERIALIZED),
        (16, (8, 4), Source.REMATERIALIZED),
        (18, (8, 4), Source.OWNED),
    ],
)
def test_a_value_is_uniform_owned_or_rematerialized(
    number: int, domain: Shape, source: Source
) -> None:
    assert source_of(STAGED_ROW, number, domain) is source


def test_lanes_read_an_element_of_another_owner_from_threadgroup_memory() -> None:
    layout = layout_of(STAGED_ROW)
    row = Domain((8, 4)).indices[:1]
    assert where_is(value_of(layout, 12), row, 32, layout) is Source.STAGED


def test_a_value_without_owners_is_read_from_threadgroup_memory_by_all() -> None:
    assert source_of(CHUNKED, 13, (128,)) is Source.STAGED


def test_a_value_that_is_computed_once_is_not_available_at_other_elements() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: f32[32] = load %a.0[%10]
        store %a.0[%10] = %11
    """
    layout = layout_of(ops)
    carried = Value(99, value_of(layout, 11).ty, "")
    with pytest.raises(AssertionError, match="%99 is not available at"):
        where_is(carried, owner_indices((32,)), 64, layout)


def test_what_a_rematerialized_value_needs_are_the_values_it_is_computed_from() -> None:
    layout = layout_of(STAGED_ROW)
    finder, domain = Finder(layout), Domain((8, 4))
    needs = finder.of(value_of(layout, 14), domain.indices, domain.extent)
    assert needs == Needs(shared=frozenset({value_of(layout, 12)}))
