"""Memory stays as it is over launches and redefinitions; `benchmarks/memory.py` has the long form.

What Python allocates is counted, not what the system gives: that comes in pages, at times.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.memory import STEPS, Step
from eas.msl.host import load, worker_client
from eas.msl.host.build import default_builder
from eas.msl.host.worker import Worker
from eas.runtime.interpreter.run import MOST_PLANS
from tests.thorough import thorough

TEXT = """\
#include <metal_stdlib>
using namespace metal;
kernel void fill(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = NUMBER;
}
"""


@pytest.fixture
def _counted() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("_counted")
@pytest.mark.parametrize("backend", ["cpu", "interpret", "msl-host"])
def test_launches_leave_nothing_behind(backend: str) -> None:
    assert allocated_by("launches", backend, 60) < 200


@pytest.mark.usefixtures("_counted")
@pytest.mark.parametrize(
    "backend", ["cpu", *(pytest.param(each, marks=thorough) for each in ("interpret", "msl-host"))]
)
def test_redefined_kernels_leave_nothing_behind(backend: str) -> None:
    assert allocated_by("redefinitions", backend, 20) < 1000


@pytest.mark.usefixtures("_counted")
def test_kernels_that_are_redefined_with_another_text_leave_nothing_behind() -> None:
    assert allocated_by("redefinitions with another text", "interpret", 30) < 2000


@pytest.mark.skipif(sys.platform != "linux", reason="the maps of a process are Linux's")
def test_the_machine_code_of_redefined_kernels_is_unloaded() -> None:
    step = STEPS["redefinitions"]("cpu")
    repeat(step, range(5))
    before = len(maps())
    repeat(step, range(50))
    assert len(maps()) < before + 10


@pytest.mark.skipif(sys.platform != "linux", reason="the maps of a process are Linux's")
def test_a_library_is_unloaded_when_many_others_were_needed_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eas.msl.host.worker.MOST_LIBRARIES", 2)
    paths = [str(default_builder().build([TEXT.replace("NUMBER", n)]).path) for n in "123"]
    worker = object.__new__(Worker)
    worker._libraries = {}  # pyright: ignore[reportPrivateUsage]
    for path in (paths[0], paths[1], paths[0], paths[2]):
        worker._library(path)  # pyright: ignore[reportPrivateUsage]
    loaded = "".join(maps())
    assert [path in loaded for path in paths] == [True, False, True]


@pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux only")
def test_memory_for_large_arrays_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_client, "KEPT_BYTES", 1 << 20)
    host = worker_client.Host()
    shader = load(TEXT.replace("NUMBER", "7"), host=host)
    try:
        for count in (1 << 21, 1 << 10, 1 << 21):  # larger than what is kept, smaller, and again
            x = np.zeros(count, np.float32)
            shader.fill(x, threads=count, per_group=256)
            assert (x == 7).all()
            held = os.fstat(host._file).st_blocks * 512  # pyright: ignore[reportPrivateUsage]
            assert held <= 1 << 20
    finally:
        host.stop()


def allocated_by(what: str, backend: str, count: int) -> float:
    """The bytes that a step leaves behind, on average; caches of limited size are full before.

    Of two rounds the better one counts: what other threads and libraries allocate comes once.
    """
    step, numbers = STEPS[what](backend), itertools.count()
    repeat(step, itertools.islice(numbers, MOST_PLANS + 1 if backend == "interpret" else 10))
    sizes = [tracemalloc.get_traced_memory()[0]]
    for _ in range(2):
        repeat(step, itertools.islice(numbers, count))
        sizes.append(tracemalloc.get_traced_memory()[0])
    return min(after - before for before, after in itertools.pairwise(sizes)) / count


def repeat(step: Step, numbers: Iterable[int]) -> None:
    for number in numbers:
        step(number)
    gc.collect()


def maps() -> list[str]:
    return Path("/proc/self/maps").read_text().splitlines()
