"""Sums of products stay in fragments, on whatever path a program takes, and are right."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import ORDERS, Host, check, run
from eas.support.diagnostics import render
from tests.thorough import sampled

BM, BN, BK = 16, 24, 8


def places(M: Any, N: Any) -> Any:
    m = mk.program_id(0) * BM + mk.arange(0, BM)
    n = mk.program_id(1) * BN + mk.arange(0, BN)
    return m[:, None], n[None, :], (m < M)[:, None] & (n < N)[None, :]


def left(a: Any, m: Any, start: Any, M: Any, K: Any) -> Any:
    k = (start + mk.arange(0, BK))[None, :]
    return mk.load(a, m * K + k, (m < M) & (k < K))


def right(b: Any, start: Any, n: Any, K: Any, N: Any) -> Any:
    k = (start + mk.arange(0, BK))[:, None]
    return mk.load(b, k * N + n, (k < K) & (n < N))


@eas.kernel
def while_loop(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    start = 0
    while start < K:
        acc = mk.dot(left(a, m, start, M, K), right(b, start, n, K, N), acc)
        start += BK
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def while_true(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    start = 0
    while True:
        if start >= K:
            break
        acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
        start += BK
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def break_at_the_end(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(0, 1000000, BK):
        acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
        if start + BK >= K:
            break
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def continue_backwards(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(K + BK - K % BK, -1, -BK):
        if start >= K:
            continue
        acc = mk.dot(left(a, m, start, M, K), right(b, start, n, K, N), acc)
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def two_ways(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)
        if start + BK <= K:
            x = mk.load(a, m * K + k[None, :], m < M)
            acc += mk.dot(x, mk.load(b, k[:, None] * N + n, n < N))
        else:
            acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def begins_with_a_load(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.load(c, m * N + n, inside)
    for start in range(0, K, BK):
        acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
    mk.store(out, m * N + n, acc - mk.load(c, m * N + n, inside), inside)


@eas.kernel
def rest_after_the_loop(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(0, K // BK * BK, BK):
        acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
    if K % BK != 0:
        start = K // BK * BK
        acc += mk.dot(left(a, m, start, M, K), right(b, start, n, K, N))
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def loops_in_loops(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for outer in range(0, K, 2 * BK):
        for inner in range(0, 2 * BK, BK):
            acc = mk.dot(left(a, m, outer + inner, M, K), right(b, outer + inner, n, K, N), acc)
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def same_in_the_inner_loop(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        x, y = left(a, m, start, M, K), right(b, start, n, K, N)
        for _ in range(2):
            acc += mk.dot(x * 0.25, y)
        acc += mk.dot(x, y * 0.5)
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def multiplied_by_rows(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    row = mk.arange(0, BM)
    for start in range(0, K, BK):
        power = mk.exp2(-(row % 3) * start / BK)
        before = mk.exp2(-(row % 3) * (start - BK) / BK)
        x = left(a, m, start, M, K) * power[:, None]
        acc = acc * (power / before)[:, None] + mk.dot(x, right(b, start, n, K, N))
    last = (K - 1) // BK * 1.0
    mk.store(out, m * N + n, acc * mk.exp2((row % 3) * last)[:, None], inside)


@eas.kernel
def multiplied_by_a_number(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    power = 1.0
    for start in range(0, K, BK):
        acc = acc * 0.5 + mk.dot(left(a, m, start, M, K) * power, right(b, start, n, K, N))
        power *= 0.5
    mk.store(out, m * N + n, acc / power * 0.5, inside)


KEPT = [
    while_loop,
    while_true,
    break_at_the_end,
    continue_backwards,
    two_ways,
    begins_with_a_load,
    rest_after_the_loop,
    loops_in_loops,
    multiplied_by_rows,
    multiplied_by_a_number,
]


@eas.kernel
def broken_off_with_the_old_sum(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(0, K + 5 * BK, BK):
        more = mk.dot(left(a, m, start, M, K), right(b, start, n, K, N), acc)
        if start >= K:
            break
        acc = more
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def read_on_the_way(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    start = 0
    while start < K and mk.max(acc) < 1e30:
        acc = mk.dot(left(a, m, start, M, K), right(b, start, n, K, N), acc)
        start += BK
    mk.store(out, m * N + n, acc, inside)


@eas.kernel
def swapped(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    one, two = mk.zeros((BM, BN)), mk.zeros((BM, BN))
    for start in range(0, K, BK):
        one, two = two, mk.dot(left(a, m, start, M, K), right(b, start, n, K, N), one)
    mk.store(out, m * N + n, one + two, inside)


@eas.kernel
def begun_again(a, b, c, out, M, N, K):
    m, n, inside = places(M, N)
    acc = mk.zeros((BM, BN))
    for start in range(-4 * BK, K, BK):
        if start == 0:
            acc = mk.zeros((BM, BN))
        k = mk.maximum(start, 0)
        acc += mk.dot(left(a, m, k, M, K), right(b, k, n, K, N))
    mk.store(out, m * N + n, acc, inside)


OTHERS = [
    same_in_the_inner_loop,
    broken_off_with_the_old_sum,
    read_on_the_way,
    swapped,
    begun_again,
]


def inputs(M: int, N: int, K: int) -> dict[str, Any]:
    random = np.random.default_rng(M)
    a, b, c = (random.normal(size=shape).astype("f4") for shape in ((M, K), (K, N), (M, N)))
    return {"a": a, "b": b, "c": c, "out": np.zeros((M, N), "f4"), "M": M, "N": N, "K": K}


@sampled(6)
@pytest.mark.parametrize("sizes", [(37, 50, 45), (16, 24, 8), (3, 5, 1)])
@pytest.mark.parametrize("kernel", [*KEPT, *OTHERS], ids=lambda kernel: kernel.name)
def test_products_are_added_up_rightly(
    kernel: Any, sizes: tuple[int, int, int], checked_host: Host
) -> None:
    compiled = kernel.compile(**inputs(*sizes))
    grid = (-(-sizes[0] // BM), -(-sizes[1] // BN))
    for order in ORDERS:
        arrays = inputs(*sizes)
        run(
            compiled.metal,
            compiled.function.params,
            compiled.binding.bind(arrays),
            grid,
            order=order,
        )
        right = arrays["a"].astype("f8") @ arrays["b"].astype("f8")
        np.testing.assert_allclose(arrays["out"], right, rtol=1e-4, atol=1e-4)
    bound = compiled.binding.bind(inputs(*sizes))
    found = check(compiled.metal, compiled.function, bound, grid, checked_host)
    assert [render(diagnostic) for diagnostic in found] == []


@pytest.mark.parametrize("kernel", KEPT, ids=lambda kernel: kernel.name)
def test_sums_stay_in_fragments(kernel: Any) -> None:
    text = kernel.to_msl(**inputs(37, 50, 45))
    loops = re.findall(r"^    (?:for|while) .*?^    }$", text, re.MULTILINE | re.DOTALL)
    [loop] = [each for each in loops if "multiply_16x8x24(" in each]
    assert "simdgroup_store" not in loop and "make_filled" not in loop
    assert loop.count("threadgroup_barrier") <= 2
