"""The pass `dot-operands`: sums that products start from, factors that are stored transposed."""

from __future__ import annotations

from typing import Any

import eas
from eas import mk
from eas.ir.aliasing.affine_forms import AffineForms, is_index_or_conversion, step_along
from eas.ir.lowering.dot_operands import shape_dot_operands
from eas.ir.nodes import Compute, Function, Load, walk


@eas.kernel
def product(a, b, c, K, IS_TRANSPOSED: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 8)[None, :]
    total = mk.zeros((8, 8))
    for start in range(0, K, 8):
        x = mk.load(a, i * K + start + j)
        y = mk.load(
            b, (start + j if IS_TRANSPOSED else j * K) + (i * K if IS_TRANSPOSED else start + i)
        )
        total += mk.dot(x, y)
    mk.store(c, i * 8 + j, total)


def names(is_transposed: bool) -> list[str]:
    function = shape_dot_operands(
        product.compile("*f32", "*f32", "*f32", "i32", IS_TRANSPOSED=is_transposed).function
    )
    loops: list[Any] = [op for op in function.body.ops if hasattr(op, "body")]
    inside = list(walk(loops[0].body))
    return [op.op.name for op in inside if isinstance(op, Compute) and op.result.ty.dtype.is_float]


def test_a_sum_with_a_product_is_a_product_that_starts_from_it() -> None:
    assert names(is_transposed=True) == ["dot"]


def test_a_factor_that_lies_in_columns_is_read_in_rows_and_transposed() -> None:
    assert names(is_transposed=False) == ["permute", "dot"]


def steps_of_loads(function: Function, axes: tuple[int, ...]) -> list[list[int | None]]:
    ops = list(walk(function.body))
    makers: dict[int, Any] = {op.result.id: op for op in ops if isinstance(op, Compute | Load)}
    loads = [op for op in ops if isinstance(op, Load)]
    forms = AffineForms(lambda value: makers.get(value.id), is_index_or_conversion)
    return [[step_along(op.offset, axis, forms) for axis in axes] for op in loads]


def test_steps_are_known_along_each_axis() -> None:
    function = product.compile("*f32", "*f32", "*f32", "i32", IS_TRANSPOSED=False).function
    assert steps_of_loads(function, (0, 1)) == [[None, 1], [1, None]]


def test_steps_are_known_through_changes_of_shape_and_not_through_sums() -> None:
    @eas.kernel
    def gather(x, y):
        table = mk.broadcast_to(mk.arange(0, 4)[:, None], (4, 4))
        for offset in (mk.sum(table, axis=1), mk.ravel(table[:, 1:2])):
            mk.store(y, mk.arange(0, 4), mk.load(x, offset))

    function = gather.compile("*f32", "*f32").function
    assert steps_of_loads(function, (0,)) == [[None], [1]]


def test_the_lanes_of_simdgroups_have_no_steps() -> None:
    @eas.kernel
    def gather(x, y):
        mk.store(y, mk.tid(0, 64), mk.load(x, mk.lane_id()))

    function = gather.compile("*f32", "*f32").function
    assert steps_of_loads(function, (0,)) == [[None]]


def test_an_offset_that_every_step_uses_twice_is_not_followed_along_all_its_paths() -> None:
    @eas.kernel
    def gather(x, y, n):
        offset = mk.arange(0, 4)
        for _ in mk.static_range(60):
            offset = (offset + offset) % n
        mk.store(y, mk.arange(0, 4), mk.load(x, offset))

    function = gather.compile("*f32", "*f32", "i32").function
    assert steps_of_loads(function, (0,)) == [[None]]
