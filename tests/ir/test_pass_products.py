"""The pass `products`: sums that products start from, factors that lie in columns."""

from __future__ import annotations

from typing import Any

import eas
from eas import mk
from eas.ir.nodes import Compute, Load, walk
from eas.ir.passes.products import shape_products, steps_along


@eas.kernel
def product(a, b, c, K, IS_TURNED: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 8)[None, :]
    total = mk.zeros((8, 8))
    for start in range(0, K, 8):
        x = mk.load(a, i * K + start + j)
        y = mk.load(b, (start + j if IS_TURNED else j * K) + (i * K if IS_TURNED else start + i))
        total += mk.dot(x, y)
    mk.store(c, i * 8 + j, total)


def names(is_turned: bool) -> list[str]:
    function = shape_products(
        product.compile("*f32", "*f32", "*f32", "i32", IS_TURNED=is_turned).function
    )
    loops: list[Any] = [op for op in function.body.ops if hasattr(op, "body")]
    inside = list(walk(loops[0].body))
    return [op.op.name for op in inside if isinstance(op, Compute) and op.result.ty.dtype.is_float]


def test_a_sum_with_a_product_is_a_product_that_starts_from_it() -> None:
    assert names(is_turned=True) == ["dot"]


def test_a_factor_that_lies_in_columns_is_read_in_rows_and_turned() -> None:
    assert names(is_turned=False) == ["permute", "dot"]


def test_steps_are_known_along_each_axis() -> None:
    function = product.compile("*f32", "*f32", "*f32", "i32", IS_TURNED=False).function
    ops = list(walk(function.body))
    makers: dict[int, Any] = {op.result.id: op for op in ops if isinstance(op, Compute | Load)}
    loads = [op for op in ops if isinstance(op, Load)]
    found = [[steps_along(op.offset, axis, makers) for axis in (0, 1)] for op in loads]
    assert found == [[None, 1], [1, None]]
