"""Launches on `msl-host` through the public interface: arrays, asserts and prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def twice(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i, i < N) * 2, i < N)


@eas.kernel
def shift(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N), i < N)


@eas.kernel
def clear_and_keep(source, cleared, kept, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    old = mk.load(source, i)
    mk.store(cleared, i, 0.0)
    mk.store(kept, i, old)


@eas.kernel
def copy_rows(x, y):
    i = mk.program_id(0)
    for j in range(x.shape[1]):
        y[i, j] = x[i, j]


@eas.kernel
def talk(x, BLOCK: eas.constexpr):
    program = mk.program_id(0) + 10 * mk.program_id(1)
    v = mk.load(x, mk.arange(0, BLOCK))
    print("program", program)
    print("value", v, "of", program)


@eas.kernel
def demand(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    assert mk.load(x, i, i < N) < 50, "too large"


@eas.kernel
def say_all(a, b, c, d, e):
    print(a, b, c, d, e)


def test_the_environment_chooses_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "msl-host")
    x = np.arange(10, dtype=np.float32)
    twice(x, 10, BLOCK=4)
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]


def test_an_array_that_is_passed_twice_is_written_after_it_was_read() -> None:
    x, kept = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    clear_and_keep[1](x, x, kept, BLOCK=4, _backend="msl-host")
    assert (x.tolist(), kept.tolist()) == ([0, 0, 0, 0], [0, 1, 2, 3])


def test_an_empty_grid_runs_nothing() -> None:
    x = np.arange(4, dtype=np.float32)
    twice(x, 0, BLOCK=4, _backend="msl-host")
    assert x.tolist() == [0, 1, 2, 3]


def test_no_elements_are_no_error() -> None:
    twice[1](np.zeros(0, np.float32), 0, BLOCK=4, _backend="msl-host")


def test_arrays_that_share_memory_share_it_in_the_kernel() -> None:
    memory = np.arange(8, dtype=np.int32)
    shift[1](memory[:4], memory[4:], 4, BLOCK=4, _backend="msl-host")
    assert memory.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    twice(memory, 8, BLOCK=8, _backend="msl-host")
    assert memory.tolist() == [0, 2, 4, 6, 0, 2, 4, 6]


def test_views_that_run_backwards_are_followed() -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    y = np.zeros((3, 8), np.int32)
    copy_rows[3](x[::-1, ::-1], y[:, ::2], _backend="msl-host")
    assert np.array_equal(y[:, ::2], x[::-1, ::-1])
    assert not y[:, 1::2].any()


def test_prints_come_in_the_order_of_the_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(3, dtype=np.int32) * 100
    talk[2, 2](x, BLOCK=3, _backend="interpret")
    expected = capsys.readouterr().out
    talk[2, 2](x, BLOCK=3, _backend="msl-host")
    assert capsys.readouterr().out == expected


def test_more_prints_than_there_is_room_for_come_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = np.arange(64, dtype=np.int32)
    talk[40](x, BLOCK=64, _backend="msl-host")
    assert len(capsys.readouterr().out.splitlines()) == 40 * 65


def test_values_of_every_kind_are_printed_alike(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (np.float16(0.1), -7, np.uint64(2**63 + 1), np.int8(-3), np.float32(1e-7))
    say_all[1](*arguments, _backend="interpret")
    expected = capsys.readouterr().out
    say_all[1](*arguments, _backend="msl-host")
    assert capsys.readouterr().out == expected


def test_a_failed_assert_is_an_error_with_its_place() -> None:
    x = np.array([1, 2, 3, 99, 5], np.int32)
    errors: list[Any] = []
    for backend in ("interpret", "msl-host"):
        with pytest.raises(eas.KernelError) as caught:
            demand(x, 5, BLOCK=2, _backend=backend)
        errors.append(caught.value.diagnostics)
    assert errors[0] == errors[1]


def test_more_programs_than_indices_reach_are_refused() -> None:
    with pytest.raises(eas.LaunchError, match=r"^kernel `twice`: its indices are for "):
        twice[2**31 - 1](np.zeros(4, np.float32), 4, BLOCK=4, _backend="msl-host")
