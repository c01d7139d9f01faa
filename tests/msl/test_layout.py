"""The decisions of a layout: threads, strategies, owners."""

from __future__ import annotations

import pytest

from eas.ir.nodes import Value
from eas.ir.types import Shape
from eas.msl.layout.layout import Layout, Strategy
from tests.msl.texts import layout_of


def numbers(values: set[Value]) -> list[int]:
    return sorted(value.id for value in values)


def strategies_of(layout: Layout) -> dict[int, Strategy]:
    return {value.id: strategy for value, strategy in layout.strategies.items()}


def domains_of(layout: Layout) -> list[Shape]:
    return [domain.shape for domain in layout.domains.values()]


STORE = """
    %10: i32[{size}] = arange start=0 size={size}
    store %i.2[%10] = %10
"""


@pytest.mark.parametrize(
    ("size", "threads"),
    [(1, 32), (32, 32), (33, 64), (256, 256), (300, 256), (1024, 256), (2048, 512), (5000, 1024)],
)
def test_the_largest_block_determines_the_threads(size: int, threads: int) -> None:
    assert layout_of(STORE.format(size=size)).threads == threads


def test_the_caller_may_choose_the_threads() -> None:
    assert layout_of(STORE.format(size=100), threads=7).threads == 7


def test_a_block_that_is_only_reduced_does_not_determine_the_threads() -> None:
    ops = """
        %10: i32[4096] = arange start=0 size=4096
        %11: i32[64, 64] = reshape %10 shape=[64, 64]
        %12: f32[64, 64] = load %a.0[%11]
        %13: f32[64] = reduce_sum %12 axis=0
        %14: i32[64] = arange start=0 size=64
        store %b.1[%14] = %13
    """
    assert layout_of(ops).threads == 64


REDUCTION = """
    %10: i32[{size}] = arange start=0 size={size}
    %11: i32[{shape}] = reshape %10 shape=[{shape}]
    %12: f32[{shape}] = load %a.0[%11]
    store %a.0[%11] = %12
    %13: f32[{result}] = reduce_max %12 axis={axis}
    %14: i32[{result}] = arange start=0 size={result}
    store %b.1[%14] = %13
"""


@pytest.mark.parametrize(
    ("shape", "axis", "strategy"),
    [
        ((4, 64), 1, Strategy.ROW_PARTIALS),
        ((4, 33), 1, Strategy.SERIAL),
        ((64, 4), 0, Strategy.SERIAL),
        ((128, 65), 1, Strategy.CHUNKED),
    ],
)
def test_the_shape_determines_the_strategy_of_a_reduction(
    shape: tuple[int, int], axis: int, strategy: Strategy
) -> None:
    text = f"{shape[0]}, {shape[1]}"
    result = shape[1 - axis]
    ops = REDUCTION.format(size=shape[0] * shape[1], shape=text, result=result, axis=axis)
    assert strategies_of(layout_of(ops)) == {13: strategy}


def test_threads_that_fill_no_simdgroup_do_not_reduce_rows_by_simdgroups() -> None:
    ops = REDUCTION.format(size=256, shape="4, 64", result=4, axis=1)
    assert strategies_of(layout_of(ops, threads=40)) == {13: Strategy.SERIAL}


def test_index_arithmetic_is_rematerialized() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: i32[32] = mul %10, %11
        %13: bool[32] = lt %10, %11
        store %i.2[%12] = %10 if %13
    """
    assert numbers(layout_of(ops).materialized) == []


def test_a_load_is_materialized() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: f32[32] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    layout = layout_of(ops)
    assert (numbers(layout.materialized), numbers(layout.staged)) == ([11], [])


REPEATED = """
    %10: i32[8] = arange start=0 size=8
    %11: f32[8] = load %a.0[%10]
    %12: f32[8] = {op} %11
    {before}
    %13: f32[8, 1] = expand_dims %12 axis=1
    %14: f32[8, 4] = broadcast %13 shape=[8, 4]
    %15: i32[32] = arange start=0 size=32
    %16: i32[8, 4] = reshape %15 shape=[8, 4]
    store %b.1[%16] = %14
"""


def test_a_cheap_row_is_rematerialized_at_each_element() -> None:
    layout = layout_of(REPEATED.format(op="neg", before=""))
    assert (numbers(layout.materialized), numbers(layout.staged)) == ([], [])


def test_an_expensive_row_is_materialized_and_staged() -> None:
    layout = layout_of(REPEATED.format(op="exp", before=""))
    assert (numbers(layout.materialized), numbers(layout.staged)) == ([11, 12], [12])


def test_a_load_from_an_array_that_is_written_is_staged() -> None:
    layout = layout_of(REPEATED.format(op="neg", before="store %a.0[%10] = %12"))
    assert (numbers(layout.materialized), numbers(layout.staged)) == ([12], [12])


LOOP = """
    %10: i32[{size}] = arange start=0 size={size}
    %11: i32 = 0
    %12: i32 = 1
    for %13: i32 = %11 .. %n.4 by %12 {{
      {body}
      yield
    }}
"""


def test_a_loop_over_one_size_of_block_is_part_of_a_loop_over_elements() -> None:
    layout = layout_of(LOOP.format(size=64, body="store %i.2[%10] = %10"))
    assert domains_of(layout) == [(64,)]


def test_a_loop_with_a_reduction_is_uniform() -> None:
    body = """
      %20: i32 = reduce_sum %10 axis=none
      %21: i32[64] = splat %20 shape=[64]
      store %i.2[%10] = %21
    """
    layout = layout_of(LOOP.format(size=64, body=body))
    assert (domains_of(layout), len(layout.uniform_control)) == ([], 1)


def test_a_loop_with_an_effect_of_all_lanes_is_uniform() -> None:
    body = """
      store %i.2[%10] = %10
      store %j.3[%13] = %13
    """
    assert domains_of(layout_of(LOOP.format(size=64, body=body))) == []


def test_a_loop_whose_trips_read_what_others_wrote_is_uniform() -> None:
    body = """
      %20: i32[64] = splat %13 shape=[64]
      %21: i32[64] = add %10, %20
      %22: i32[64] = load %i.2[%21]
      store %i.2[%10] = %22
    """
    assert domains_of(layout_of(LOOP.format(size=64, body=body))) == []


def test_divergent_control_flow_has_a_domain_that_covers_its_blocks() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[8, 4] = reshape %10 shape=[8, 4]
        %12: i32[8] = arange start=0 size=8
        %13: i32[8, 1] = expand_dims %12 axis=1
        %14: i32[8, 1] = splat %n.4 shape=[8, 1]
        %15: bool[8, 1] = lt %13, %14
        if %15 {
          store %i.2[%11] = %11
        }
    """
    assert domains_of(layout_of(ops)) == [(8, 4)]
