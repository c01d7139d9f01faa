"""Lanes that read and write one tile in place wait for each other only where they have to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import ORDERS, Host, check, run
from eas.support.diagnostics import render

R, B = 4, 64


def tile(N: Any, shift: int) -> Any:
    row = mk.program_id(0) * R + mk.arange(0, R)[:, None]
    return row, mk.arange(0, B)[None, :] + shift


@eas.kernel
def masked(x, M, N):
    row, col = tile(N, 0)
    inside = (row < M) & (col < N)
    mk.store(x, row * N + col, mk.load(x, row * N + col, inside) * 2.0, inside)


@eas.kernel
def turned_round(x, M, N):
    row, col = tile(N, 0)
    inside = (row < M) & (col < N)
    x_value = mk.load(x, col + N * row, inside)
    mk.store(x, col + N * row, x_value + 1.0, inside & (x_value > 0.0))


@eas.kernel
def masked_by_rows_only(x, M, N):
    row, col = tile(N, 0)
    inside = (row * N + col < M * N) & (row < M)
    v = mk.load(x, row * N + col, inside)
    mk.store(x, row * N + col, v, inside)


@eas.kernel
def left_of_the_rows(x, M, N):
    row, col = tile(N, -1)
    inside = (col < N) & (row * N + col >= 0) & (row < M)
    v = mk.load(x, row * N + col, inside)
    mk.store(x, row * N + col, v, inside)


@eas.kernel
def masked_by_another(x, M, N):
    row, col = tile(N, 0)
    inside = (col < M) & (row < M) & (row * N + col < M * N)
    v = mk.load(x, row * N + col, inside)
    mk.store(x, row * N + col, v, inside)


ALONE = [masked, turned_round]
TOGETHER = [masked_by_rows_only, left_of_the_rows, masked_by_another]


def inputs() -> dict[str, Any]:
    return {"x": np.random.default_rng(3).normal(size=7 * 45).astype("f4"), "M": 7, "N": 45}


@pytest.mark.parametrize("kernel", ALONE, ids=lambda kernel: kernel.name)
def test_masked_rows_are_changed_in_place(kernel: Any, checked_host: Host) -> None:
    expected = inputs()
    kernel[2](**expected, _backend="interpret")
    compiled = kernel.compile(**inputs())
    assert "threadgroup_barrier" not in compiled.msl
    for order in ORDERS:
        arrays = inputs()
        run(
            compiled.metal,
            compiled.function.params,
            compiled.binding.bind(arrays),
            (2,),
            order=order,
        )
        np.testing.assert_array_equal(arrays["x"], expected["x"])
    bound = compiled.binding.bind(inputs())
    found = check(compiled.metal, compiled.function, bound, (2,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []


@pytest.mark.parametrize("kernel", TOGETHER, ids=lambda kernel: kernel.name)
def test_lanes_that_may_meet_wait_for_each_other(kernel: Any) -> None:
    assert "threadgroup_barrier" in kernel.to_msl(**inputs())
