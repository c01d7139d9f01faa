"""Grids that follow from sizes, functions that give grids, and the threads of a program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk

Array = np.ndarray[Any, np.dtype[Any]]


@eas.kernel
def add_rows(a, b, c, H, W, BLOCK: eas.constexpr):
    row = mk.program_id(1)
    column = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = mk.and_(row < H, column < W)
    at = row * W + column
    mk.store(c, at, mk.load(a, at, mask) + mk.load(b, at, mask), mask)


@eas.kernel
def count(out, D, H, W, THREADS: eas.constexpr):
    z, y = mk.program_id(2), mk.program_id(1)
    x = mk.program_id(0) * THREADS + mk.tid(0, THREADS)
    at = (z * H + y) * W + x
    mk.store(out, at, mk.load(out, at, x < W) + 1.0, x < W)


@eas.kernel
def step(out, size, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(out, i, i < size) + 1.0, i < size)


@eas.kernel
def mark_tiles(out, W, H: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(1)
    column = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, row * W + column, 1.0, column < W)


@eas.kernel
def unused_axis(out, N, BLOCK: eas.constexpr):
    mk.program_id(1)
    mk.atomic_add(out, 0, 1.0)


@pytest.mark.usefixtures("everywhere")
def test_a_grid_of_two_axes_follows_from_h_and_w() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 5 * 43), np.float32)
    c = np.zeros_like(a)
    for _ in range(2):  # the second launch may take the fast path
        c[:] = 0
        add_rows(a, b, c, 5, 43, BLOCK=16)
        np.testing.assert_array_equal(c, a + b)


@pytest.mark.usefixtures("everywhere")
def test_a_grid_of_three_axes_follows_from_d_h_and_w() -> None:
    out = np.zeros((2, 3, 41), np.float32)
    for _ in range(2):
        count(out.reshape(-1), 2, 3, 41, THREADS=32)
    np.testing.assert_array_equal(out, 2)


@pytest.mark.usefixtures("everywhere")
def test_a_shape_comes_before_the_arguments() -> None:
    out = np.zeros((4, 3, 41), np.float32)
    count(out.reshape(-1), 9, 3, 41, THREADS=32, _shape=(2, 3, 41))
    assert out.sum(axis=(1, 2)).tolist() == [3 * 41, 3 * 41, 0, 0]


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("sizes", [{"_nthreads": 40}, {"_shape": 40}, {"_shape": (np.int64(40),)}])
def test_a_size_stands_for_n(sizes: dict[str, Any]) -> None:
    out = np.zeros(100, np.float32)
    step(out, 100, BLOCK=32, **sizes)
    assert out.tolist() == [1] * 64 + [0] * 36


def test_a_size_may_be_a_constexpr() -> None:
    out = np.zeros(3 * 20, np.float32)
    mark_tiles(out, 20, H=3, BLOCK=8)
    np.testing.assert_array_equal(out, 1)


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0)])
def test_a_size_of_zero_runs_nothing(sizes: tuple[int, int]) -> None:
    out = np.zeros(40, np.float32)
    height, width = sizes
    mark_tiles(out, width, H=height, BLOCK=8)
    mark_tiles(out, 8, H=5, BLOCK=8, _shape=sizes)
    step(out, 40, BLOCK=8, _nthreads=0)
    assert not out.any()


def test_an_axis_counts_although_its_index_is_not_used() -> None:
    out = np.zeros(1, np.float32)
    unused_axis(out, 5, BLOCK=4, _shape=(3, 8))
    assert out[0] == 6


def test_a_grid_of_one_launch_is_not_that_of_the_next() -> None:
    a, b = np.ones((2, 4 * 8), np.float32)
    c = np.zeros_like(a)
    add_rows[1, 4](a, b, c, 4, 8, BLOCK=8)
    add_rows[1, 2](a, a, c, 4, 8, BLOCK=8)
    add_rows(a, b, c, 4, 8, BLOCK=8)
    np.testing.assert_array_equal(c, 2)


class Tiles:
    """A grid in the forms that callables take."""

    def __call__(self, meta: Any, runtime_args: Any) -> Any:
        return mk.cdiv(runtime_args["out"].size, meta["BLOCK"])

    def method(self, meta: Any, runtime_args: Any) -> Any:
        return self(meta, runtime_args)


def partly(block: int, meta: Any, runtime_args: Any) -> Any:
    return mk.cdiv(runtime_args["size"], block)


@functools.wraps(partly)
def wrapped(*args: Any) -> Any:
    return mk.cdiv(args[1]["size"], args[0]["BLOCK"])


del wrapped.__wrapped__  # its own signature: any arguments


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    "grid",
    [
        lambda meta, args: (mk.cdiv(args["size"], meta["BLOCK"]),),
        lambda meta, args, extra=1: mk.cdiv(args["size"], meta["BLOCK"]) * extra,
        lambda meta, n=100: mk.cdiv(n, meta["BLOCK"]),
        lambda meta: mk.cdiv(meta["size"], meta["BLOCK"]),
        lambda *all: mk.cdiv(all[0]["size"], all[0]["BLOCK"]),
        functools.partial(partly, 32),
        Tiles(),
        Tiles().method,
    ],
)
def test_a_function_with_two_parameters_gets_meta_and_runtime_arguments(grid: Any) -> None:
    out = np.zeros(100, np.float32)
    for launch in (step[grid], functools.partial(step, _grid=grid)):
        launch(out, 100, BLOCK=32)
    np.testing.assert_array_equal(out, 2)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("threads", [16, (16,), (16, 1), (16, 1, 1), [16, 1, 1], (4, 4), (4, 2, 2)])
def test_threads_are_an_int_or_a_tuple_of_up_to_three(threads: Any) -> None:
    out = np.zeros(100, np.float32)
    step(out, 100, BLOCK=32, _nthreads=100, _tptg=threads)
    np.testing.assert_array_equal(out, 1)
    assert step.compile(out, 100, BLOCK=32, _tptg=threads).threads == 16


def test_a_grid_changes_no_text() -> None:
    types = ("*f32", "i32")
    text = step.to_msl(*types, BLOCK=32)
    for grid in (4, (4, 1, 1), lambda meta, args: args["size"], lambda meta: meta["size"]):
        assert step.to_msl(*types, BLOCK=32, _grid=grid) == text
        assert step.compile(*types, BLOCK=32, _grid=grid).msl == text
    assert step.to_ir(*types, BLOCK=32, _nthreads=4, _tptg=(8, 1, 1))


OUT = np.zeros(100, np.float32)
REFUSED: list[tuple[Callable[[], object], str]] = [
    (
        lambda: mark_tiles(OUT, OUT, H=2, BLOCK=8, _grid=None),
        "error[E0309]",
    ),
    (
        lambda: count(OUT, 1.5, 2, 3, THREADS=32),
        "kernel `count`: give a grid: `kernel[grid](...)`. Without one the grid is "
        "(ceil(W / BLOCK), H, D), because the kernel uses `program_id(2)`, and that takes integer "
        "arguments `W` (found), `H` (found) and `D` (found `1.5`) and a constexpr `BLOCK` (32 "
        "stands for it), or `_shape=(D, H, W)`",
    ),
    (
        lambda: unused_axis(OUT, 4, BLOCK=4),
        "kernel `unused_axis`: give a grid: `kernel[grid](...)`. Without one the grid is "
        "(ceil(W / BLOCK), H), because the kernel uses `program_id(1)`, and that takes integer "
        "arguments `W` (there is none) and `H` (there is none) and a constexpr `BLOCK` (found), "
        "or `_shape=(H, W)`",
    ),
    (
        lambda: mark_tiles(OUT, -3, H=2, BLOCK=8),
        "kernel `mark_tiles`: the grid is (ceil(W / BLOCK), H), but W is -3, H is 2 and BLOCK is 8",
    ),
    (
        lambda: mark_tiles(OUT, 3, H=2, BLOCK=8, _shape=(1, 2, 3)),
        "kernel `mark_tiles`: `_shape` is (H, W) for a kernel that uses `program_id(1)` at most, "
        "not (1, 2, 3)",
    ),
    (
        lambda: mark_tiles(OUT, 3, H=2, BLOCK=8, _nthreads=4),
        "kernel `mark_tiles`: `_nthreads` is for kernels of one axis, and this one uses "
        "`program_id(1)`: give `_shape=(H, W)`",
    ),
    (
        lambda: step(OUT, 3, BLOCK=8, _shape=()),
        "kernel `step`: `_shape` has one to 3 sizes, not 0: ()",
    ),
    (
        lambda: step(OUT, 3, BLOCK=8, _shape=(-1,)),
        "kernel `step`: a size in `_shape` is at least 0, not -1",
    ),
    (
        lambda: step(OUT, 3, BLOCK=8, _nthreads=2.0),  # pyright: ignore[reportArgumentType]
        "kernel `step`: `_nthreads` is an int, not `2.0`",
    ),
    (
        lambda: step[2](OUT, 3, BLOCK=8, _nthreads=2),
        "kernel `step`: the grid is given 2 times, by `_grid` and `_nthreads`",
    ),
    (
        lambda: step[2](OUT, 3, BLOCK=8, _tptg=(8, 0)),
        "kernel `step`: `_tptg` is a tuple of up to three, whose product is 1 to 1024, not (8, 0)",
    ),
    (
        lambda: step[2](OUT, 3, BLOCK=8, _tptg=(32, 33)),
        "kernel `step`: `_tptg` is a tuple of up to three, whose product is 1 to 1024, "
        "not (32, 33)",
    ),
    (
        lambda: count(OUT, 1, 1, 1, THREADS=32, _tptg=(8, 4)),
        "kernel `count`: `_tptg=(8, 4)` has several axes, and in a kernel for threads (`mk.tid`) a "
        "threadgroup has one: `_tptg=32`, and rows and columns are `t // WIDTH` and `t % WIDTH`",
    ),
    (
        lambda: step[lambda a, b, c: 1](OUT, 3, BLOCK=8),
        "kernel `step`: the function that gives the grid has 3 parameters: it gets one dict, or "
        "the two of `(meta, runtime_args)`",
    ),
    (
        lambda: step[lambda a, b: b["gone"]](OUT, 3, BLOCK=8),
        "kernel `step`: the function that gives the grid raised KeyError: 'gone' (it gets dicts "
        "with BLOCK and with out, size)",
    ),
    (
        lambda: step.to_msl("*f32", "i32", BLOCK=8, _grid=-1),
        "kernel `step`: an extent of a grid is 0 to 2147483647, not -1",
    ),
    (
        lambda: step.to_python("*f32", "i32", BLOCK=8, _grid=4),
        "kernel `step`: `_grid` is for launches, and nothing is launched here: leave it out",
    ),
]


@pytest.mark.parametrize(("launch", "message"), REFUSED)
def test_what_is_wrong_or_unclear_is_refused(launch: Callable[[], object], message: str) -> None:
    with pytest.raises((eas.LaunchError, eas.CompileError)) as caught:
        launch()
    assert str(caught.value)[: len(message)] == message
    assert not OUT.any()
