"""Reductions along rows whose lanes want the results back, and several reductions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import ORDERS, Host, check, run
from eas.support.diagnostics import render
from tests.thorough import sampled


@eas.kernel
def softmax(x, y, R: eas.constexpr, B: eas.constexpr):
    at = mk.arange(0, R)[:, None] * B + mk.arange(0, B)[None, :]
    v = mk.load(x, at)
    powers = mk.exp(v - mk.max(v, axis=1)[:, None])
    mk.store(y, at, powers / mk.sum(powers, axis=1, keep_dims=True))


@eas.kernel
def normalized(x, y, R: eas.constexpr, B: eas.constexpr):
    row, col = mk.arange(0, R), mk.arange(0, B)
    v = mk.load(x, row[:, None] * B + col[None, :])
    mean = mk.sum(v, axis=1) / B + mk.load(x, row) * 0.125
    centred = v - mean[:, None]
    scale = mk.rsqrt(mk.sum(centred * centred, axis=1) / B + 0.25)
    mk.store(y, row[:, None] * B + col[None, :], centred * scale[:, None])
    mk.store(y, row, mean + scale)


@eas.kernel
def distance_to_the_best(x, y, R: eas.constexpr, B: eas.constexpr):
    row, col = mk.arange(0, R)[:, None], mk.arange(0, B)[None, :]
    v = mk.load(x, row * B + col)
    best = mk.argmax(v, axis=1)[:, None] - mk.argmin(v, axis=1)[:, None]
    mk.store(y, row * B + col, (col - best).to(mk.f32) + mk.min(v, axis=1)[:, None])


@eas.kernel
def again_and_again(x, y, R: eas.constexpr, B: eas.constexpr):
    at = mk.arange(0, R)[:, None] * B + mk.arange(0, B)[None, :]
    v = mk.load(x, at)
    low = mk.min(v, axis=1)
    for turn in range(3):
        v = v * 0.5 + mk.max(v, axis=1)[:, None] * 0.25 + low[:, None] * turn
    mk.store(y, at, v)


@eas.kernel
def in_halves(x, y, R: eas.constexpr, B: eas.constexpr):
    at = mk.arange(0, R)[:, None] * B + mk.arange(0, B)[None, :]
    v = mk.load(x, at).to(mk.f16)
    high, total = mk.max(v, axis=1), mk.sum(v, axis=1)
    mk.store(y, at, v + high[:, None] + total[:, None])


@eas.kernel
def three_results(x, y, R: eas.constexpr, B: eas.constexpr):
    v = mk.load(x, mk.arange(0, R * B))
    mk.store(y, 0, mk.min(v))
    mk.store(y, 1, mk.max(v * v))
    mk.store(y, 2, mk.sum(v))


@eas.kernel
def totals_in_loops(x, y, R: eas.constexpr, B: eas.constexpr):
    v = mk.load(x, mk.arange(0, R * B))
    far, near = 0.0, 0.0
    for i in range(3):
        far += mk.max(v * (i + 1))
        k = 0
        while k < 4:
            k += 1
            if i == 1 and k == 2:
                continue
            if i == 2 and k == 3:
                break
            near += mk.sum(v * k) * 0.25 + mk.argmin(v)
            v = v * 0.5
    mk.store(y, 0, far)
    mk.store(y, 1, near)


KERNELS = [
    softmax,
    normalized,
    distance_to_the_best,
    again_and_again,
    in_halves,
    three_results,
    totals_in_loops,
]
SHAPES = [(5, 2), (33, 16), (7, 32), (5, 64), (3, 160), (2, 1024), (4, 100), (6, 1)]


@sampled(5)
@pytest.mark.parametrize(
    ("kernel", "shape"),
    [(kernel, shape) for kernel in KERNELS for shape in SHAPES],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_lanes_get_the_results_of_their_rows(
    kernel: Any, shape: tuple[int, int], checked_host: Host
) -> None:
    constants = {"R": shape[0], "B": shape[1]}
    expected = inputs(shape)
    kernel[1](**expected, **constants, _backend="interpret")
    compiled = kernel.compile(**inputs(shape), **constants)
    for order in ORDERS:
        arrays = inputs(shape)
        run(
            compiled.metal,
            compiled.function.params,
            compiled.binding.bind(arrays),
            (1,),
            order=order,
        )
        np.testing.assert_allclose(arrays["y"], expected["y"], rtol=2e-3, atol=2e-3)
    bound = compiled.binding.bind(inputs(shape))
    found = check(compiled.metal, compiled.function, bound, (1,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []


@eas.kernel
def best_place(x, y, R: eas.constexpr, B: eas.constexpr):
    mk.store(y, 0, mk.argmax(mk.load(x, mk.arange(0, R * B))).to(mk.f32))


def joined(a: Any, n: Any, b: Any, m: Any) -> Any:
    return (a * n + b * m) / (n + m), n + m


@eas.kernel
def mean(x, y, R: eas.constexpr, B: eas.constexpr):
    v = mk.load(x, mk.arange(0, R * B))
    mk.store(y, 0, mk.reduce((v, mk.full((R * B,), 1.0)), 0, joined)[0])


@eas.kernel
def in_a_loop(x, y, R: eas.constexpr, B: eas.constexpr):
    total = 0.0
    for row in range(R):
        total += mk.sum(mk.load(x, row * B + mk.arange(0, B)))
    mk.store(y, 0, total)


@eas.kernel
def of_columns(x, y, R: eas.constexpr, B: eas.constexpr):
    at = mk.arange(0, R)[:, None] * B + mk.arange(0, B)[None, :]
    mk.store(y, mk.arange(0, B), mk.sum(mk.load(x, at), axis=0))


@eas.kernel
def scanned(x, y, R: eas.constexpr, B: eas.constexpr):
    at = mk.arange(0, R * B)
    mk.store(y, at, mk.cumsum(mk.load(x, at)))


@pytest.mark.parametrize(
    ("kernel", "shape", "barriers"),
    [
        (best_place, (1, 32), 0),
        (best_place, (10, 100), 1),
        (mean, (4, 1024), 1),
        (in_a_loop, (3, 256), 1),
        (of_columns, (8, 100), 0),
        (scanned, (1, 32), 0),
        (scanned, (4, 256), 1),
        (scanned, (4, 250), 2),
        (scanned, (4, 1024), 2),
        (softmax, (8, 32), 0),
        (softmax, (16, 16), 0),
        (softmax, (32, 64), 2),
        (softmax, (4, 1024), 2),
        (three_results, (4, 256), 1),
    ],
)
def test_threads_wait_as_seldom_as_they_can(
    kernel: Any, shape: tuple[int, int], barriers: int
) -> None:
    text = kernel.to_msl(**inputs(shape), R=shape[0], B=shape[1])
    assert text.count("threadgroup_barrier") == barriers


def inputs(shape: tuple[int, int]) -> dict[str, Any]:
    x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    return {"x": x, "y": np.zeros(max(x.size, 3), np.float32)}
