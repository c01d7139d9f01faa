"""Threadgroup memory that arrays use in turn: as much as fits, and no thread too early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import ORDERS, Host, check, inspect, run
from eas.support.diagnostics import render

N, M = 4096, 4


@eas.kernel
def one_after_the_other(x, out, N: eas.constexpr, M: eas.constexpr):
    i = mk.arange(0, N)
    row, column = i[:, None], mk.arange(0, M)[None, :]
    place = row * M + column
    a = mk.exp(mk.load(x, i)) * mk.sqrt(mk.load(x, i) + 2.0)
    mk.store(out, place, a[:, None] + column)
    b = (mk.sum(a) + mk.exp(mk.load(x, i)) * 100.0).to(mk.i32) // 3
    mk.store(out, place, mk.load(out, place) + b[:, None] * column)
    low = mk.min(b)
    where = mk.argmax(a)
    c = (mk.sqrt(mk.load(x, i) + 3.0 + low) * mk.exp(mk.load(x, i))).to(mk.f16)
    mk.store(out, place, mk.load(out, place) + c[:, None] * (column + where))


@eas.kernel
def in_a_loop(x, out, N: eas.constexpr, M: eas.constexpr):
    i = mk.arange(0, N)
    row, column = i[:, None], mk.arange(0, M)[None, :]
    place = row * M + column
    v = mk.load(x, i)
    for k in range(2):
        a = mk.exp(v) * mk.sqrt(v + 2.0 + k)
        mk.store(out, place, mk.load(out, place) + a[:, None] * column)
        b = mk.exp(v - k) * mk.sqrt(v + mk.max(a))
        mk.store(out, place, mk.load(out, place) - b[:, None] * column)
        c = mk.exp(v - k) * mk.sqrt(v + mk.max(b))
        mk.store(out, place, mk.load(out, place) - c[:, None] * column)
        v = v * 0.5 + mk.sum(c) * 1e-6


@eas.kernel
def all_at_once(x, out, N: eas.constexpr, M: eas.constexpr):
    i = mk.arange(0, N)
    row, column = i[:, None], mk.arange(0, M)[None, :]
    a = mk.exp(mk.load(x, i)) * mk.sqrt(mk.load(x, i) + 2.0)
    b = mk.exp(mk.load(x, i)) * mk.sqrt(mk.load(x, i) + 3.0)
    c = mk.exp(mk.load(x, i)) * mk.sqrt(mk.load(x, i) + 4.0)
    mk.store(out, row * M + column, a[:, None] * column + b[:, None] + c[:, None])


def columns(x, out, M: eas.constexpr, N: eas.constexpr):
    i, j = mk.arange(0, M)[:, None], mk.arange(0, N)[None, :]
    v = mk.exp(mk.load(x, i * N + j)) * mk.sqrt(mk.load(x, i * N + j) + 2.0)
    s = mk.sum(v, axis=0)
    p = mk.argmax(v * 2.0, axis=0)
    t = mk.max(v + s[None, :], axis=0)
    mk.store(out, i * N + j, v - s[None, :] + t[None, :] + p[None, :])


@eas.kernel
def turned(x, out, M: eas.constexpr, N: eas.constexpr):
    i, j = mk.arange(0, M)[:, None], mk.arange(0, N)[None, :]
    v = mk.load(x, i * N + j)
    v = mk.exp(v - mk.max(v, axis=1, keep_dims=True))
    w = mk.trans(v / mk.sum(v, axis=1, keep_dims=True))
    place = mk.arange(0, N)[:, None] * M + mk.arange(0, M)[None, :]
    mk.store(out, place, w - mk.sum(w * w, axis=0)[None, :] - mk.max(w, axis=1)[:, None])


CASES = [
    (one_after_the_other, {"N": N, "M": M}),
    (in_a_loop, {"N": N, "M": M}),
    (eas.kernel(columns), {"M": 64, "N": 128}),
    (eas.kernel(columns), {"M": 20, "N": 300}),
    (turned, {"M": 67, "N": 75}),
    (turned, {"M": 10, "N": 450}),
]


def inputs() -> dict[str, Any]:
    x = np.random.default_rng(5).random(2 * N).astype(np.float32) + 1.0
    return {"x": x, "out": np.zeros(N * M, np.float32)}


@pytest.mark.parametrize(("kernel", "constants"), CASES)
def test_memory_is_used_again_when_it_is_free(
    kernel: Any, constants: dict[str, int], checked_host: Host
) -> None:
    expected = inputs()
    kernel[1](**expected, **constants, _backend="interpret")
    compiled = kernel.compile(**inputs(), **constants)
    assert inspect(compiled.msl) == []
    for order in ORDERS:
        arrays = inputs()
        bound = compiled.binding.bind(arrays)
        run(compiled.metal, compiled.function.params, bound, (1,), order=order)
        np.testing.assert_allclose(arrays["out"], expected["out"], rtol=2e-3)
    bound = compiled.binding.bind(inputs())
    found = check(compiled.metal, compiled.function, bound, (1,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []


def test_arrays_of_other_dtypes_lie_in_the_same_memory() -> None:
    text = one_after_the_other.to_msl("*f32", "*f32", N=N, M=M)
    declared = [line.strip() for line in text.splitlines() if line.startswith("    threadgroup ")]
    assert declared == [
        "threadgroup float scratch[4096];",
        "threadgroup float total_partial[32];",
        "threadgroup int* b_shared = (threadgroup int*)scratch;",
        "threadgroup int low_partial[32];",
        "threadgroup float best_partial[32];",
        "threadgroup int where_partial[32];",
        "threadgroup half c_shared[4096];",  # there is room for that
    ]


@eas.kernel
def many_totals(x, out, N: eas.constexpr, M: eas.constexpr):
    i = mk.arange(0, N)
    row, column = i[:, None], mk.arange(0, M)[None, :]
    v = mk.exp(mk.load(x, i)) * mk.sqrt(mk.load(x, i) + 2.0)
    w = mk.sqrt(mk.load(x, i)) * mk.exp(mk.load(x, i) + 2.0)
    mk.store(out, row * M + column, v[:, None] * column + w[:, None])
    for _ in mk.static_range(3):
        v = v / mk.sum(v)
    mk.store(out, row * M, v[:, None])


def test_reductions_share_memory_where_there_is_no_other_way(checked_host: Host) -> None:
    constants = {"N": N, "M": M}  # two blocks take all of it
    expected = inputs()
    many_totals[1](**expected, **constants, _backend="interpret")
    arrays = inputs()
    many_totals[1](**arrays, **constants, _backend="msl-host")
    np.testing.assert_allclose(arrays["out"], expected["out"], rtol=1e-4)
    compiled = many_totals.compile(**inputs(), **constants)
    bound = compiled.binding.bind(inputs())
    found = check(compiled.metal, compiled.function, bound, (1,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []
    declared = [each for each in compiled.msl.splitlines() if each.startswith("    threadgroup ")]
    assert len(declared) == 2


def test_too_much_at_once_is_refused_with_a_table() -> None:
    with pytest.raises(eas.CompileError) as caught:
        all_at_once.to_msl("*f32", "*f32", N=N, M=M)
    (found,) = caught.value.diagnostics
    assert found.message == "49152 bytes of threadgroup memory, Metal has 32768"
    assert found.notes == (
        " 16384  `a_shared`, 4096 x f32 (test_shared_memory.py:53)",
        " 16384  `b_shared`, 4096 x f32 (test_shared_memory.py:54)",
        " 16384  `c_shared`, 4096 x f32 (test_shared_memory.py:55)",
    )
