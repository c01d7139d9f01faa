"""Launches of Metal texts through the public interface: arrays, asserts and prints.

On a GPU, and on the CPU with `msl-host`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import eas
from tests.metal.kernels import clear_and_keep, copy_rows, demand, say_all, shift, talk, twice

pytestmark = pytest.mark.usefixtures("_text_backend")


@pytest.fixture(params=["metal", "msl-host"])
def _text_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "metal":
        request.getfixturevalue("any_gpu")
    monkeypatch.setenv("EAS_BACKEND", request.param)


def test_the_environment_chooses_the_backend() -> None:
    x = np.arange(10, dtype=np.float32)
    twice(x, 10, BLOCK=4)
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]


def test_an_array_that_is_passed_twice_is_written_after_it_was_read() -> None:
    x, kept = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    clear_and_keep[1](x, x, kept, BLOCK=4)
    assert (x.tolist(), kept.tolist()) == ([0, 0, 0, 0], [0, 1, 2, 3])


def test_an_empty_grid_runs_nothing() -> None:
    x = np.arange(4, dtype=np.float32)
    twice(x, 0, BLOCK=4)
    assert x.tolist() == [0, 1, 2, 3]


def test_no_elements_are_no_error() -> None:
    memory = np.ones(4, np.float32)
    for x in (np.zeros(0, np.float32), memory[3:3]):
        twice[1](x, 0, BLOCK=4)
    assert memory.tolist() == [1.0] * 4


def test_an_array_that_is_only_read_is_not_written_back() -> None:
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    x.flags.writeable = False
    shift[1](x, y, 4, BLOCK=4)
    assert y.tolist() == [0, 1, 2, 3]


def test_arrays_may_be_parts_of_one_array() -> None:
    memory = np.arange(8, dtype=np.int32)
    shift[1](memory[:4], memory[4:], 4, BLOCK=4)
    assert memory.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_views_that_run_backwards_are_followed() -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    y = np.zeros((3, 8), np.int32)
    copy_rows[3](x[::-1, ::-1], y[:, ::2])
    assert np.array_equal(y[:, ::2], x[::-1, ::-1])
    assert not y[:, 1::2].any()


def test_small_elements_at_odd_addresses_are_found() -> None:
    x, y = np.arange(9, dtype=np.int8), np.zeros(9, np.int8)
    shift[1](x[1:], y[3:], 6, BLOCK=8)
    assert y.tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6]


def test_prints_come_in_the_order_of_the_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(3, dtype=np.int32) * 100
    talk[2, 2](x, BLOCK=3, _backend="interpret")
    expected = capsys.readouterr().out
    talk[2, 2](x, BLOCK=3)
    assert capsys.readouterr().out == expected


def test_more_prints_than_there_is_room_for_come_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    talk[40](np.arange(64, dtype=np.int32), BLOCK=64)
    assert len(capsys.readouterr().out.splitlines()) == 40 * 65


def test_values_of_every_kind_are_printed_alike(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (np.float16(0.1), -7, np.uint64(2**63 + 1), np.int8(-3), np.float32(1e-7))
    say_all[1](*arguments, _backend="interpret")
    expected = capsys.readouterr().out
    say_all[1](*arguments)
    assert capsys.readouterr().out == expected


def test_a_failed_assert_is_the_error_of_the_interpreter() -> None:
    x = np.array([1, 2, 3, 99, 5], np.int32)
    with pytest.raises(eas.KernelError) as interpreted:
        demand(x, 5, BLOCK=2, _backend="interpret")
    with pytest.raises(eas.KernelError) as caught:
        demand(x, 5, BLOCK=2)
    assert caught.value.diagnostics == interpreted.value.diagnostics


def test_more_programs_than_indices_reach_are_refused() -> None:
    with pytest.raises(eas.LaunchError, match=r"^kernel `twice`: its indices are for "):
        twice[2**31 - 1](np.zeros(4, np.float32), 4, BLOCK=4)


def test_threads_may_launch_at_once() -> None:
    arrays = [np.full(100, n, np.int32) for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda x: twice(x, 100, BLOCK=32), arrays))
    assert [x.tolist() for x in arrays] == [[2 * n] * 100 for n in range(8)]
