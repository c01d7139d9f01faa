"""Lanes that diverged join where the text joins, in every order: loops, helpers, exits."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import CHECKED, ORDERS, Bound, Dispatch, Host, check, run
from tests.host.texts import HEAD

every_order = pytest.mark.parametrize("order", ORDERS)
LANE = np.arange(32)

# Each has a name, what stands before the kernel, its body with lane `t`, and the lanes' results.
BODIES: dict[str, tuple[str, str, Any]] = {
    "a helper that stands before the kernel": (
        "inline int total(int x) { return simd_sum(x); }",
        "int r = 0; if (t < 6) { r = simd_sum(1); } r += 100 * total(1);",
        np.where(LANE < 6, 3206, 3200),
    ),
    "a helper that is called in both branches": (
        "inline int total(int x) { return simd_sum(x); }",
        "int r; if (t < 6) { r = total(1); } else { r = total(2); }",
        np.where(LANE < 6, 6, 52),
    ),
    "a helper that calls another one in a loop": (
        "inline int one(int x) { return simd_sum(x); }\n"
        "inline int many(int x, int n) {\n"
        "    int r = 0;\n    for (int k = 0; k < n; ++k) r += one(x);\n    return r;\n}",
        "int r = many(1, t < 4 ? 2 : 1); r += 1000 * many(1, 1);",
        np.where(LANE < 4, 32036, 32032),
    ),
    "lanes that skip a trip wait for the others": (
        "",
        "int r = 0; for (int k = 0; k < 3; ++k) { if (t == k) { continue; } r += simd_sum(1); }",
        np.where(LANE < 3, 62, 93),
    ),
    "lanes that leave a loop wait behind it": (
        "",
        "int r = 0; for (int k = 0; ; ++k) { if (k == t % 3) { break; } r += simd_sum(1); }\n"
        "r += 1000 * simd_sum(1);",
        32000 + np.array([0, 21, 31])[LANE % 3],
    ),
    "a condition that the lanes evaluate together": (
        "",
        "int r = 0, n = t % 4;\n"
        "while (simd_any(n > 0)) { if (n == 0) { continue; } --n; r += simd_sum(1); }",
        np.array([0, 24, 40, 48])[LANE % 4],
    ),
    "a loop without braces in a branch that has an else": (
        "",
        "int r = 0; if (t < 8) for (int k = 0; k < 2; ++k) r += simd_sum(1); else r = simd_sum(3);",
        np.where(LANE < 8, 16, 72),
    ),
    "a loop that tests at its end": (
        "",
        "int r = 0, k = 0; do { r += simd_sum(1); } while (++k < t % 2 + 1); r += simd_sum(100);",
        np.where(LANE % 2 == 1, 3248, 3232),
    ),
    "an unrolled loop": (
        "",
        "int r = 0;\n    #pragma unroll\n    for (int k = 0; k < 3; ++k) { r += simd_sum(k); }",
        np.full(32, 96),
    ),
    "a helper that returns early": (
        "inline int some(int x) { if (x < 9) { return simd_sum(x); } return -1; }",
        "int r = some(t) * 100 + some(t + 5);",
        np.where(LANE < 9, 3600, -100) + np.where(LANE < 4, 26, -1),
    ),
    "a switch": (
        "",
        "int r = 0;\nswitch (t % 3) {\n"
        "case 0: r = simd_sum(1); break;\ncase 1: r = 50;\ndefault: r += simd_sum(2);\n}",
        np.array([11, 92, 42])[LANE % 3],
    ),
    "a template": (
        "template <typename T> T total(T x) { return simd_sum(x); }",
        "int r = t < 3 ? total<int>(1) : int(total(2.0f)); r += total(10);",
        np.where(LANE < 3, 323, 378),
    ),
    "a helper that is declared before": (
        "int total(int x);\nint total(int x) { return simd_sum(x); }",
        "int r = total(1);",
        np.full(32, 32),
    ),
}  # fmt: skip


@every_order
@pytest.mark.parametrize("name", BODIES)
def test_lanes_meet_in_one_instance_of_a_function(host: Host, name: str, order: str) -> None:
    before, body, expected = BODIES[name]
    out = np.zeros(32, np.int32)
    _run(host, before, body, out, order)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", BODIES)
def test_reductions_of_diverged_lanes_are_no_faults(checked_host: Host, name: str) -> None:
    before, body, expected = BODIES[name]
    out = np.zeros(32, np.int32)
    _run(checked_host, before, body, out, "forward")
    np.testing.assert_array_equal(out, expected)


def _run(host: Host, before: str, body: str, out: Any, order: str) -> None:
    text = (
        f"{HEAD}\n{before}\nkernel void lanes(device int* out [[buffer(0)]], "
        f"uint index [[thread_index_in_threadgroup]]) {{\n    const int t = int(index);\n"
        f"    {body}\n    out[t] = r;\n}}\n"
    )
    library = host.builder.build([text], CHECKED if host.is_checked else ())
    dispatch = Dispatch(host, library, "lanes", [Bound(0, out)], (32, 1, 1), (1, 1, 1), order=order)
    with host.lock:
        dispatch.run()
        dispatch.write_back(0)


@eas.kernel
def scan_then_sum(x, y, scanned, total, N: eas.constexpr, M: eas.constexpr):
    i, j = mk.arange(0, N), mk.arange(0, M)
    mk.store(scanned, i, mk.cumsum(mk.load(x, i)))
    mk.store(total, 0, mk.sum(mk.load(y, j)))


@every_order
def test_a_sum_of_64_bits_follows_a_scan_of_few_lanes(host: Host, order: str) -> None:
    x, y = np.arange(6, dtype=np.int32), np.arange(64, dtype=np.int64)
    scanned, total = np.zeros(6, np.int32), np.zeros(1, np.int64)
    compiled = scan_then_sum.compile(x, y, scanned, total, N=6, M=64)
    bound = compiled.binding.bind({"x": x, "y": y, "scanned": scanned, "total": total})
    run(compiled.metal, compiled.function.params, bound, (1,), host=host, order=order)
    assert (scanned.tolist(), total.tolist()) == ([0, 1, 3, 6, 10, 15], [2016])


@eas.kernel
def exchange(x, out, masks, T: eas.constexpr):
    t = mk.tid(0, T)
    v, mask = mk.load(x, t), mk.load(masks, t)
    mk.store(out, t, mk.simd_shuffle_xor(v, mask))
    mk.store(out, T + t, mk.simd_broadcast(v, mask))


def test_threads_ask_for_different_lanes(checked_host: Host) -> None:
    x, masks = np.arange(64, dtype=np.float32), (np.arange(64) % 5).astype(np.int32)
    compiled = exchange.compile(x, np.zeros(128, np.float32), masks, T=64)
    bound = compiled.binding.bind({"x": x, "out": np.zeros(128, np.float32), "masks": masks})
    assert check(compiled.metal, compiled.function, bound, (1,), checked_host) == ()


@eas.kernel
def joined_for_others(x, y, out, N: eas.constexpr, M: eas.constexpr):
    total = mk.reduce(mk.load(x, mk.arange(0, N)), 0, lambda a, b: a + b)
    j = mk.arange(0, M)
    mk.store(out, j, mk.load(y, j) + total)


@pytest.mark.parametrize(("few", "many"), [(1, 64), (20, 64), (32, 96), (40, 160)])
def test_a_reduction_by_a_function_reaches_simdgroups_without_elements(
    few: int, many: int, host: Host, checked_host: Host
) -> None:
    x, y, out = (np.arange(size, dtype=np.int32) for size in (few, many, many))
    compiled = joined_for_others.compile(x, y, out, N=few, M=many)
    bound = compiled.binding.bind({"x": x, "y": y, "out": out})
    run(compiled.metal, compiled.function.params, bound, (1,), host=host)
    np.testing.assert_array_equal(out, y + x.sum())
    assert check(compiled.metal, compiled.function, bound, (1,), checked_host) == ()


@eas.kernel
def running_maximum(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    mk.store(out, i, mk.associative_scan(mk.load(x, i), 0, mk.maximum))


@pytest.mark.parametrize("size", [1100, 2050])
def test_one_simdgroup_scans_the_partials_without_a_race(size: int, checked_host: Host) -> None:
    x = np.arange(size, dtype=np.int32)
    compiled = running_maximum.compile(x, x.copy(), N=size)
    bound = compiled.binding.bind({"x": x, "out": x.copy()})
    assert check(compiled.metal, compiled.function, bound, (1,), checked_host) == ()


@eas.kernel
def product(x, out, N: eas.constexpr):
    mk.store(out, 0, mk.prod(mk.load(x, mk.arange(0, N))))


def test_products_of_signed_numbers_wrap(checked_host: Host) -> None:
    x, out = np.full(64, 3, np.int32), np.zeros(1, np.int32)
    compiled = product.compile(x, out, N=64)
    bound = compiled.binding.bind({"x": x, "out": out})
    assert check(compiled.metal, compiled.function, bound, (1,), checked_host) == ()


@eas.kernel
def joined(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    mk.store(out, i, v + mk.reduce(v, 0, lambda a, b: a + b))


@pytest.mark.parametrize("threads", [7, 33, 40, 65, 96])
def test_a_reduction_by_a_function_takes_any_number_of_threads(
    threads: int, host: Host, checked_host: Host
) -> None:
    x = np.arange(70, dtype=np.int32)
    out = np.zeros(70, np.int32)
    compiled = joined.compile(x, out, N=70, _tptg=threads)
    bound = compiled.binding.bind({"x": x, "out": out})
    run(compiled.metal, compiled.function.params, bound, (1,), host=host)
    np.testing.assert_array_equal(out, x + x.sum())
    assert check(compiled.metal, compiled.function, bound, (1,), checked_host) == ()
