"""The forms in which memory is named, each on every backend: all that mean the same do the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.backends import BACKENDS
from tests.frontend.running import codes_of
from tests.thorough import sampled

every_backend = pytest.mark.parametrize("backend", BACKENDS)
SIZE = 24
NO_OFFSETS: Any = None

LOADS: dict[str, Callable[..., Any]] = {
    "array": lambda a, i, m: mk.load(a, i, m, -1.0),
    "pointers": lambda a, i, m: mk.load(a + i, m, -1.0),
    "pointers_and_names": lambda a, i, m: mk.load(a + i, mask=m, other=-1.0),
    "pointers_and_one_name": lambda a, i, m: mk.load(a + i, m, other=-1.0),
    "names": lambda a, i, m: mk.load(ptr=a + i, mask=m, other=-1.0),
    "names_of_an_array": lambda a, i, m: mk.load(ptr=a, offs=i, mask=m, other=-1.0),
    "pointer_and_offsets": lambda a, i, m: mk.load(a + 2, i - 2, m, -1.0),
    "pointers_and_no_offsets": lambda a, i, m: mk.load(a + i, NO_OFFSETS, m, -1.0),
    "pointers_and_offsets": lambda a, i, m: mk.load((a + i) - 2, 2, m, -1.0),
    "hints": lambda a, i, m: mk.load(
        a + i, m, -1.0, eviction_policy="evict_last", cache_modifier=".cg"
    ),
}

STORES: dict[str, Callable[..., Any]] = {
    "array": mk.store,
    "pointers": lambda a, i, v, m: mk.store(a + i, v, m),
    "pointers_and_a_name": lambda a, i, v, m: mk.store(a + i, v, mask=m),
    "names": lambda a, i, v, m: mk.store(ptr=a + i, value=v, mask=m),
    "names_but_the_pointer": lambda a, i, v, m: mk.store(a + i, value=v, mask=m),
    "offsets_by_name": lambda a, i, v, m: mk.store(a + 2, offs=i - 2, value=v, mask=m),
    "value_by_name": lambda a, i, v, m: mk.store(a + 2, i - 2, value=v, mask=m),
    "pointer_and_offsets": lambda a, i, v, m: mk.store(a + 2, i - 2, v, m),
    "pointer_and_offsets_and_a_name": lambda a, i, v, m: mk.store(a + 2, i - 2, v, mask=m),
    "hints": lambda a, i, v, m: mk.store(a + i, v, m, eviction_policy="evict_first"),
    "added": lambda a, i, v, m: mk.atomic_add(a + i, v, m),
    "added_at_offsets": lambda a, i, v, m: mk.atomic_add(a + 2, i - 2, v, m),
    "exchanged": lambda a, i, v, m: mk.atomic_xchg(a + i, v, mask=m),
    "compared": lambda a, i, v, m: mk.atomic_cas(a + i, 0, v, m),
    "compared_at_offsets": lambda a, i, v, m: mk.atomic_cas(a, i, 0, v, m),
}


@eas.kernel
def read(a, out, LOAD: eas.constexpr, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.store(out, i, LOAD(a, i, i % 3 > 0))


@eas.kernel
def write(a, values, STORE: eas.constexpr, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    STORE(a, i, mk.load(values, i), i % 3 > 0)


@every_backend
@pytest.mark.parametrize("form", LOADS)
def test_a_load_is_the_same_in_each_form(form: str, backend: str) -> None:
    a, out = np.arange(1, SIZE + 1, dtype=np.float32), np.zeros(SIZE, np.float32)
    read[1](a, out, LOAD=LOADS[form], SIZE=SIZE, _backend=backend)
    np.testing.assert_array_equal(out, np.where(np.arange(SIZE) % 3 > 0, a, -1))


@sampled(7)
@every_backend
@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("form", STORES)
def test_a_store_is_the_same_in_each_form(form: str, dtype: str, backend: str) -> None:
    values, a = np.arange(1, SIZE + 1).astype(dtype), np.zeros(SIZE, dtype)
    write[1](a, values, STORE=STORES[form], SIZE=SIZE, _backend=backend)
    np.testing.assert_array_equal(a, np.where(np.arange(SIZE) % 3 > 0, values, 0))


@eas.kernel
def at_one_place(a, flags, n):
    mk.store(a + 1, 5)
    mk.store(a + 1, 1, 6)
    mk.store(a + 3, 7.0, n > 0)
    mk.store(a + 4, 8.0, n < 0)
    mk.atomic_add(a + 5, 9)
    mk.atomic_add(a + 5, 1, 10)
    i = mk.arange(0, 2)
    mk.store(flags + 2, i, i > 0)


@every_backend
def test_after_one_pointer_the_types_decide_what_comes(backend: str) -> None:
    a, flags = np.zeros(8, np.float32), np.full(4, 3, np.int32)
    at_one_place[1](a, flags, 1, _backend=backend)
    np.testing.assert_array_equal(a, [0, 5, 6, 7, 0, 9, 10, 0])
    np.testing.assert_array_equal(flags, [3, 3, 0, 1])


def test_where_the_types_do_not_decide_a_name_is_asked_for() -> None:
    def by_scalar(a, n):
        mk.store(a + n, 1, n > 0)

    def by_thread(a, n):
        t = mk.tid(0, 32)
        mk.store(a + t, t, t < n)

    def compared(a, n):
        mk.atomic_cas(a + n, 0, 1, n > 0)

    def read_at_none(a, n):
        i = mk.arange(0, 8)
        mk.store(a, i, mk.load(a + i, None, i < n))

    for kernel in (by_scalar, by_thread, compared, read_at_none):
        assert codes_of(kernel, "*i32", "i32") == ["E0431"], kernel.__name__


@eas.kernel
def partly(a, before, n, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.store(before, i, mk.atomic_add(a, i, 1, i % 2 > 0))
    mk.store(before + SIZE, i, mk.atomic_cas(a, i, 5, 9, i % 2 > 0))
    mk.store(before + 2 * SIZE, mk.atomic_xchg(a, 0, 7, mask=n > 0))
    mk.store(before + 2 * SIZE + 1, mk.atomic_xchg(a, 0, 8, mask=n < 0))


@every_backend
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "int8"])
def test_lanes_that_are_masked_off_at_an_atomic_give_zero(dtype: str, backend: str) -> None:
    a, before = np.full(SIZE, 5, dtype), np.full(2 * SIZE + 2, 3, dtype)
    partly[1](a, before, 1, SIZE=SIZE, _backend=backend)
    is_odd = np.arange(SIZE) % 2 > 0
    np.testing.assert_array_equal(before[:SIZE], np.where(is_odd, 5, 0))
    np.testing.assert_array_equal(before[SIZE : 2 * SIZE], np.where(is_odd, 6, 0))
    np.testing.assert_array_equal(before[2 * SIZE :], [5, 0])
    np.testing.assert_array_equal(a, np.where(is_odd, 6, [7] + [5] * (SIZE - 1)))
