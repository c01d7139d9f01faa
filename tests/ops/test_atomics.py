"""Every atomic on every dtype, in device and in threadgroup memory, on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES, DType

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")
PLACES, LANES = 6, 70
KINDS = {
    "add": (mk.atomic_add, np.add),
    "max": (mk.atomic_max, np.fmax),
    "min": (mk.atomic_min, np.fmin),
    "and": (mk.atomic_and, np.bitwise_and),
    "or": (mk.atomic_or, np.bitwise_or),
    "xor": (mk.atomic_xor, np.bitwise_xor),
}


@eas.kernel
def in_device_memory(
    start, values, out, before, KINDS: eas.constexpr, PLACES: eas.constexpr, LANES: eas.constexpr
):
    """Row `k` of `out` is updated by the kind number `k`, lane by lane at `i % PLACES`."""
    i = mk.arange(0, LANES)
    v = mk.load(values, i)
    for k in mk.static_range(len(KINDS)):
        place = k * PLACES + i % PLACES
        mk.store(before, k * LANES + i, KINDS[k](out, place, v))


@eas.kernel
def in_threadgroup_memory(
    start, values, out, before, KINDS: eas.constexpr, PLACES: eas.constexpr, LANES: eas.constexpr
):
    t = mk.tid(0, LANES)
    shared = mk.alloc_tg(PLACES, start.dtype)
    v = mk.load(values, t)
    for k in mk.static_range(len(KINDS)):
        if t < PLACES:
            mk.store(shared, t, mk.load(start, t))
        mk.barrier()
        mk.store(before, k * LANES + t, KINDS[k](shared, t % PLACES, v))
        mk.barrier()
        if t < PLACES:
            mk.store(out, k * PLACES + t, mk.load(shared, t))
        mk.barrier()


def kinds_of(dtype: DType) -> list[str]:
    return [kind for kind in KINDS if dtype.is_int or kind in ("add", "max", "min")]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kernel", [in_device_memory, in_threadgroup_memory])
@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
def test_atomics_agree_with_numpy(name: str, kernel: Any, backend: str) -> None:
    dtype = DTYPES[name]
    kinds = kinds_of(dtype)
    random = np.random.default_rng(0)
    start = random.integers(0, 100, PLACES).astype(dtype.numpy)
    values = np.ones(LANES, dtype.numpy)
    out = np.tile(start, (len(kinds), 1))
    before = np.zeros((len(kinds), LANES), dtype.numpy)
    functions = tuple(KINDS[kind][0] for kind in kinds)
    given = {"KINDS": functions, "PLACES": PLACES, "LANES": LANES, "_backend": backend}
    if dtype.bits == 64 and backend == "msl-host":
        wanted = "Metal has no f64" if name == "f64" else "Metal has no atomics on"
        with pytest.raises(eas.CompileError, match=wanted):
            kernel[(1,)](start, values, out, before, **given)
        return
    kernel[(1,)](start, values, out, before, **given)
    for kind, result in zip(kinds, out, strict=True):
        np.testing.assert_array_equal(result, one_by_one(KINDS[kind][1], start, values), kind)
    for place in range(PLACES):  # each of the lanes has found another sum, in whatever order
        found = np.sort(before[0, place::PLACES])
        np.testing.assert_array_equal(
            found, start[place] + np.arange(found.size).astype(dtype.numpy)
        )


def one_by_one(update: Any, start: Array, values: Array) -> Array:
    totals = start.copy()
    for lane, value in enumerate(values):
        totals[lane % PLACES] = update(totals[lane % PLACES], value)
    return totals


@eas.kernel
def exchange_all(x, old, seen, EXPECTED: eas.constexpr, NEW: eas.constexpr, LANES: eas.constexpr):
    i = mk.arange(0, LANES)
    mk.store(old, i, mk.atomic_xchg(x, i, NEW))
    mk.store(
        seen, i, mk.atomic_cas(x, i, mk.where(i % 2 == 0, NEW, EXPECTED).to(x.dtype), EXPECTED)
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [n for n, d in DTYPES.items() if n != "bool" and d.bits < 64])
def test_exchanges_give_what_was_there(name: str, backend: str) -> None:
    dtype = DTYPES[name].numpy
    x = np.arange(LANES).astype(dtype)
    old, seen = np.zeros(LANES, dtype), np.zeros(LANES, dtype)
    exchange_all[(1,)](x, old, seen, EXPECTED=3, NEW=7, LANES=LANES, _backend=backend)
    np.testing.assert_array_equal(old, np.arange(LANES).astype(dtype))
    np.testing.assert_array_equal(seen, np.full(LANES, 7, dtype))
    np.testing.assert_array_equal(x, np.where(np.arange(LANES) % 2 == 0, 3, 7).astype(dtype))
