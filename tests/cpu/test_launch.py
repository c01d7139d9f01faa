"""Launches of machine code: arguments, threads, reports, and faults that must not end a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime.errors import KernelError
from eas.runtime.refusals import LaunchError
from tests.processes import PATIENCE

Array = np.ndarray[Any, np.dtype[Any]]


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)


@eas.kernel
def scale(x, y, FACTOR, SHIFT, IS_ON, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if IS_ON:
        mk.store(y, i, mk.load(x, i, i < N) * FACTOR + SHIFT, i < N)


@eas.kernel
def rows(x, y):
    r, c = mk.program_id(0), mk.program_id(1)
    y[r, c] = x[r, c] + 10 * r + c


def launch_add(n: int, **options: Any) -> None:
    a, b, c = np.arange(n, dtype="f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    add(a, b, c, n, BLOCK=64, _backend="cpu", **options)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000, 100_003])
def test_launches_of_all_sizes_give_the_same_results(n: int) -> None:
    for _ in range(3):
        launch_add(n)


def test_an_empty_grid_runs_nothing() -> None:
    for _ in range(2):
        launch_add(0)


def test_numbers_of_all_kinds_arrive_in_repeated_launches() -> None:
    x, y = np.arange(100, dtype="f4"), np.zeros(100, "f4")
    for factor, shift in ((2.0, 3.0), (0.5, -1.0), (1.5, 4)):
        scale(x, y, factor, shift, True, 100, BLOCK=32, _backend="cpu")
        np.testing.assert_array_equal(y, x * np.float32(factor) + np.float32(shift))
        scale(x, y, factor, shift, False, 100, BLOCK=32, _backend="cpu")


def test_a_grid_is_checked_in_each_launch() -> None:
    x, y = np.zeros((2, 2)), np.zeros((2, 2))
    rows[2, 2](x, y, _backend="cpu")
    for wrong in ((2.0, 2), (True, 2), ([2], 2)):
        with pytest.raises(LaunchError, match="an extent of a grid is an int"):
            rows[wrong](x, y, _backend="cpu")  # pyright: ignore[reportArgumentType]


def test_extents_and_strides_are_read_in_each_launch() -> None:
    for shape in ((3, 4), (3, 4), (5, 2), (1, 7)):
        x, y = np.random.default_rng(0).random(shape), np.zeros(shape)
        rows[shape](x, y, _backend="cpu")
        r, c = np.indices(shape)
        np.testing.assert_array_equal(y, x + 10 * r + c)


def test_a_view_with_strides_is_taken_after_a_packed_array() -> None:
    whole = np.zeros((6, 8))
    for y in (np.zeros((3, 4)), whole[::2, ::2]):
        rows[3, 4](np.zeros((3, 4)), y, _backend="cpu")
        r, c = np.indices((3, 4))
        np.testing.assert_array_equal(y, 10 * r + c)
    assert whole[1::2].sum() == 0


def test_arrays_that_share_memory_are_refused_after_others() -> None:
    whole = np.ones(100, "f4")
    for _ in range(2):
        add(whole, whole.copy(), np.zeros(100, "f4"), 64, BLOCK=64, _backend="cpu")
    with pytest.raises(LaunchError, match="it shares memory with `a`"):
        add(whole[:80], whole.copy()[:80], whole[20:], 64, BLOCK=64, _backend="cpu")


def test_one_array_may_be_passed_twice() -> None:
    a, c = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    for _ in range(2):
        add(a, a.copy(), c, 64, BLOCK=64, _backend="cpu")
        add(c, a, c, 64, BLOCK=64, _backend="cpu")
        np.testing.assert_array_equal(c, 3 * a)


def test_a_read_only_array_is_refused_after_a_writable_one() -> None:
    a, c = np.ones(64, "f4"), np.zeros(64, "f4")
    for _ in range(2):
        add(a, a, c, 64, BLOCK=64, _backend="cpu")
    c.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        add(a, a, c, 64, BLOCK=64, _backend="cpu")


def test_a_number_that_does_not_fit_takes_another_kernel() -> None:
    a, c = np.ones(64, "f4"), np.zeros(64, "f4")
    add(a, a, c, 64, BLOCK=64, _backend="cpu")
    with pytest.raises(LaunchError, match="an extent of a grid"):
        add(a, a, c, 2**40, BLOCK=1, _backend="cpu")


def test_several_threads_launch_at_once() -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                launch_add(300_000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


@eas.kernel
def divide(a, b, q, r, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x, y = mk.load(a, i), mk.load(b, i)
    mk.store(q, i, x // y)
    mk.store(r, i, x % y)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "u8"])
def test_a_division_by_zero_does_not_end_the_process(dtype: str) -> None:
    a = np.arange(64).astype(dtype)
    a[:8] = np.iinfo(dtype).min
    b = np.zeros(64, dtype)
    b[4:8] = np.array(-1).astype(dtype)
    b[32:] = 7
    q, r = np.zeros(64, dtype), np.zeros(64, dtype)
    divide[1](a, b, q, r, BLOCK=64, _backend="cpu")
    np.testing.assert_array_equal(q[32:], a[32:] // 7)
    np.testing.assert_array_equal(r[32:], a[32:] % 7)


@eas.kernel
def checked(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N, other=1.0)
    assert v > 0.0, "x is above zero"
    mk.store(y, i, mk.log(v), i < N)


def test_a_failed_assert_names_the_program_and_the_lane() -> None:
    x = np.ones(100, "f4")
    x[70] = -1
    with pytest.raises(KernelError) as caught:
        checked(x, x.copy(), 100, BLOCK=32, _backend="cpu")
    [found] = caught.value.diagnostics
    assert found.message == "assertion failed: x is above zero"
    assert found.notes == ("program 2 of a grid of 4, lane 6",)


@eas.kernel
def printing(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i)
    if v > 2:
        print("lane", i, "has", v)
    print("done")


def test_prints_are_those_of_the_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([1, 5, 2, 3, 0, 9], "i4")
    printing[1](x, BLOCK=6, _backend="interpret")
    expected = capsys.readouterr().out
    printing[1](x, BLOCK=6, _backend="cpu")
    assert capsys.readouterr().out == expected


@eas.kernel
def normalize(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    mk.store(y, i, v / mk.sum(v), i < N)


def test_a_block_may_be_larger_than_the_stack() -> None:
    n = 3_000_000
    x, y = np.ones(n, "f4"), np.zeros(n, "f4")
    normalize[1](x, y, n, BLOCK=1 << 22, _backend="cpu")
    np.testing.assert_allclose(y, 1 / n, rtol=1e-5)


_ENDLESS = """
import signal, threading, time
import numpy as np
import eas
from eas import mk

@eas.kernel
def spin(x, seen, TIMES):
    mk.store(seen, mk.program_id(0), 1)
    total = 0.0
    for i in range(TIMES):
        total += mk.sqrt(mk.load(x, 0) + total)
    mk.store(x, 0, total)

@eas.kernel
def wait(x, seen, TIMES):
    mk.store(seen, mk.program_id(0), 1)
    waited = 0
    while mk.load(x, 0) > 0.5:
        waited += TIMES
    mk.store(x, 0, waited)

@eas.kernel
def wait_in_lanes(x, seen, TIMES):
    mk.store(seen, mk.program_id(0), 1)
    i = mk.arange(0, 100)
    waited = 0
    while mk.load(x, i) > 0.5:
        waited += TIMES
    mk.store(x, i, waited)

@eas.kernel
def wait_beside(x, seen, TIMES):
    if mk.program_id(0) == 22:
        while mk.load(x, 0) > 0.5:
            pass
    total = 0.0
    for i in range(TIMES):
        total += mk.sqrt(mk.load(x, 0) + total)
    mk.store(x, 1, total)
    mk.store(seen, mk.program_id(0), 1)

def report():
    end = time.monotonic() + PATIENCE
    while seen.sum() < EXPECTED and time.monotonic() < end:
        time.sleep(0.001)
    print("running" if seen.sum() >= EXPECTED else f"only {seen.sum()}", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
x, seen = np.zeros(100, "f4"), np.zeros(PROGRAMS, "i4")
KERNEL[1](x, seen, 1, _backend="cpu")
seen[:] = 0
threading.Thread(target=report, daemon=True).start()
try:
    # Programs of some milliseconds are taken one by one: none waits behind an endless one.
    KERNEL[PROGRAMS](x + 1, seen, 1_000_000, _backend="cpu")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize(
    ("kernel", "programs", "expected"),
    [
        ("spin", 100_000, 1),
        ("wait", 1, 1),
        ("wait", 4, 1),
        ("wait_in_lanes", 1, 1),
        ("wait_beside", 40, 39),  # the launching thread is done and waits for another one
    ],
)
def test_a_long_launch_can_be_interrupted(
    tmp_path: Path, kernel: str, programs: int, expected: int
) -> None:
    """The signal comes when so many programs as `expected` have run, or at least begun."""
    text = _ENDLESS.replace("KERNEL", kernel).replace("PROGRAMS", str(programs))
    script = tmp_path / "spin.py"
    text = text.replace("EXPECTED", str(expected)).replace("PATIENCE", str(PATIENCE))
    script.write_text(text)
    command = [sys.executable, str(script)]
    variables = {**os.environ, "EAS_NUM_THREADS": "2"}  # one may wait while the other one works
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert out == "stopped\n"


def test_a_handler_of_a_signal_runs_in_a_long_program_and_raises_what_it_likes() -> None:
    @eas.kernel
    def wait(x):
        while mk.load(x, 0) > 0.5:
            pass

    seen: list[int] = []

    def handle(number: int, frame: object) -> None:
        seen.append(number)
        if len(seen) == 3:
            raise TimeoutError("that is enough")

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(TimeoutError, match="that is enough"):
            wait[1](np.ones(1, "f4"), _backend="cpu")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@eas.kernel
def copy(x, y, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i < x.shape[0]:
        y[i] = x[i]


def test_launches_with_strided_and_with_packed_arrays_may_alternate() -> None:
    source = np.arange(600, dtype="f4")
    for step in (1, 2, 1, -3, 1, 1, 2):
        x = source[::step][:150]
        y = np.zeros(600, "f4")[:: abs(step)][:150]
        copy[3](x, y, BLOCK=64, _backend="cpu")
        np.testing.assert_array_equal(y, x)


def test_the_stride_of_an_axis_with_one_element_is_what_numpy_says() -> None:
    @eas.kernel
    def look(x, y):
        r = mk.arange(0, 8)
        y[r] = x[r, 0] + x.strides[1]

    x, y = np.zeros((1, 8), "i4").T, np.zeros(8, "i4")
    for _ in range(2):
        look[1](x, y, _backend="cpu")
        assert y.tolist() == [x.strides[1] // x.itemsize] * 8


def test_code_for_arrays_without_gaps_takes_no_stride() -> None:
    compiled = copy.compile("*f32[:]", "*f32[:]", BLOCK=64)
    assert not any(param.role == "stride" for param in compiled.unit_stride.function.params)


@eas.kernel
def multiply(a, b, c, IS_ON, SIZE: eas.constexpr):
    i, j = mk.arange(0, SIZE)[:, None], mk.arange(0, SIZE)[None, :]
    if IS_ON:
        product = mk.dot(mk.load(a, i * SIZE + j), mk.load(b, i * SIZE + j))
        mk.store(c, i * SIZE + j, product)


def test_a_signal_ends_a_product_of_large_matrices() -> None:
    size = 2048
    a, b, c = np.ones((size, size), "f4"), np.ones((size, size), "f4"), np.zeros((size, size), "f4")
    multiply[1](a, b, c, False, SIZE=size, _backend="cpu")

    def handle(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(TimeoutError):
            multiply[1](a, b, c, True, SIZE=size, _backend="cpu")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not c.any()


@eas.kernel
def take_long(x, TIMES):
    total = 0.0
    for _ in range(TIMES):
        total += mk.sqrt(mk.load(x, 0) + total)
    mk.store(x, mk.program_id(0), total)


@pytest.mark.parametrize("programs", [1, 2, 3, 8])
def test_a_launch_that_is_interrupted_by_nothing_ends_well(programs: int) -> None:
    """Its last programs end after the time at which it checks for signals."""
    x = np.zeros(8, "f4")
    for _ in range(2):
        take_long[programs](x, 5_000_000, _backend="cpu")
    assert (x[:programs] == 0).all()
