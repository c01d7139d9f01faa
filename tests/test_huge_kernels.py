"""Random kernels on arrays of more than 2**31 elements find what NumPy finds, on every backend.

`EAS_FUZZ_HUGE=1000 uv run pytest tests/test_huge_kernels.py` runs that many kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from random import Random
from typing import Any

import numpy as np
import pytest

import eas
from eas.call_arguments import specialize_call
from eas.config import Backend
from eas.kernel import Kernel
from eas.msl import host
from eas.msl.host import dispatch
from eas.msl.host.shared_buffers import Placed, copy_in, copy_out
from eas.msl.host.worker_client import Host
from eas.runtime.binding import to_argument
from tests.fuzz.huge import Array, HugeKernel, write_huge
from tests.fuzz.running import load
from tests.thorough import sampled

KERNELS = int(os.environ.get("EAS_FUZZ_HUGE", "24"))
KERNELS_PER_TEST = 12
KERNELS_PER_HOST_TEST = 3
MOST_BYTES = 6 << 30  # of an array that the process of `msl-host` may have
PAGE = 4096
OUTSIDE = ("R0101", "R0102", "R0103", "R0104")

_HEAD = "import eas\nfrom eas import mk\n\n\n"

Launch = Callable[[Kernel, HugeKernel, Array], None]


@sampled(2)
@pytest.mark.parametrize("number", range(ceil(KERNELS / KERNELS_PER_TEST)))
@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_kernels_on_huge_arrays_find_what_numpy_finds(backend: Backend, number: int) -> None:
    def launch(kernel: Kernel, made: HugeKernel, y: Array) -> None:
        kernel(made.view, y, **made.arguments, _grid=made.programs, _backend=backend)

    for seed in range(number * KERNELS_PER_TEST, (number + 1) * KERNELS_PER_TEST):
        made = write_huge(Random(seed))
        check_outside(made, backend, check(made, seed, launch))


@sampled(2)
@pytest.mark.parametrize("number", range(ceil(KERNELS / 12)))
def test_the_metal_text_finds_what_numpy_finds(number: int, sparse_host: Host) -> None:
    def launch(kernel: Kernel, made: HugeKernel, y: Array) -> None:
        bound = kernel.parameters.bind((made.view, y), made.arguments)
        call = specialize_call("touch", kernel.parameters.all, bound, is_launch=True)
        compiled = kernel.compile(made.view, y, **made.arguments)
        arguments = compiled.binding.bind(call.values)
        Sparse.touched = _addresses(made)
        host.run(
            compiled.metal, compiled.function.params, arguments, (made.programs,), host=sparse_host
        )

    seeds = iter(range(number * 1000, (number + 1) * 1000))
    for _ in range(KERNELS_PER_HOST_TEST):
        seed, made = next((s, k) for s in seeds if _is_small(k := write_huge(Random(s))))
        check(made, seed, launch)


def _is_small(made: HugeKernel) -> bool:
    return to_argument(made.view).flat.nbytes < MOST_BYTES


def check(made: HugeKernel, seed: int, launch: Launch) -> str:
    random = np.random.default_rng(seed)
    made.fill(random)
    y = random.integers(1, 60, made.active.size).astype(made.view.dtype)
    elements, numbers = made.expected(made.elements(), y)
    kernel = load(f"{_HEAD}{made.text}\n")["touch"]
    launch(kernel, made, y)
    description = f"seed {seed}, {made.view.shape} in steps of {made.view.strides}\n\n{made.text}"
    np.testing.assert_array_equal(made.elements(), elements, f"x of {description}")
    np.testing.assert_array_equal(y, numbers, f"y of {description}")
    return description


def check_outside(made: HugeKernel, backend: Backend, description: str) -> None:
    """An access just outside of the array is reported, and nothing else happens."""
    if not made.outside:
        return
    kernel = load(f"{_HEAD}{made.text}\n")["touch"]
    y = np.ones(made.active.size, made.view.dtype)
    try:
        kernel(made.view, y, **made.outside, _grid=made.programs, _backend=backend)
    except eas.KernelError as error:
        assert error.diagnostics[0].code in OUTSIDE, description
        return
    raise AssertionError(f"nothing is reported for {made.outside} and {description}")


class Sparse:
    """What takes the place of the copies. `touched` are the addresses of elements."""

    touched: Array = np.zeros(0, np.int64)

    @classmethod
    def pages(cls, flat: Array) -> Iterator[slice]:
        start = flat.__array_interface__["data"][0]
        for page in np.unique((cls.touched - start) // PAGE):
            yield slice(max(int(page) * PAGE, 0), min((int(page) + 1) * PAGE, flat.nbytes))

    @classmethod
    def copy_in(cls, shared: Array, placed: Placed, flats: Sequence[Array]) -> None:
        for offset, flat in zip(placed.offsets, flats, strict=True):
            if flat.nbytes < 2**31:
                copy_in(shared, Placed((offset,), placed.size), [flat])
                continue
            for page in cls.pages(flat):
                shared[offset:][page] = flat.view(np.uint8)[page]

    @classmethod
    def copy_out(cls, shared: Array, offset: int, flat: Array) -> None:
        if flat.nbytes < 2**31:
            copy_out(shared, offset, flat)
            return
        for page in cls.pages(flat):
            flat.view(np.uint8)[page] = shared[offset:][page]


@pytest.fixture
def sparse_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setattr(dispatch, "copy_in", Sparse.copy_in)
    monkeypatch.setattr(dispatch, "copy_out", Sparse.copy_out)
    made = Host()
    yield made
    made.stop()


def _addresses(made: HugeKernel) -> Array:
    view: Any = made.view
    start = view.__array_interface__["data"][0]
    steps = zip(made.places, view.strides, strict=True)
    return sum((place * stride for place, stride in steps), np.full(made.active.size, start))
