"""What decides whether a launch checks its accesses to memory."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime.refusals import LaunchError

pytestmark = pytest.mark.usefixtures("_cpu")


@pytest.fixture
def _cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    monkeypatch.delenv("EAS_CHECK", raising=False)
    monkeypatch.setattr("eas.config._checks.process", None)


@eas.kernel
def fill(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, i < N)


@eas.kernel(checked=False)
def unchecked(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, i < N)


@eas.kernel(checked=True)
def always(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, i < N)


def is_checked(kernel: Any = fill, **options: Any) -> bool:
    """Whether a launch that writes one element behind a view of eight is reported."""
    whole = np.zeros(16, np.float32)
    try:
        kernel(whole[:8], 9, BLOCK=16, **options)
    except eas.KernelError:
        assert whole[8] == 0.0
        return True
    assert whole[8] == 1.0
    return False


def test_the_cpu_checks_by_default() -> None:
    assert is_checked()


@pytest.mark.parametrize("text", ["0", "false", "OFF", "no"])
def test_the_environment_turns_checks_off(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_CHECK", text)
    assert not is_checked()


@pytest.mark.parametrize("text", ["1", "true", "On", "yes"])
def test_the_environment_turns_checks_on(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_CHECK", text)
    assert is_checked()


def test_a_block_is_stronger_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_CHECK", "1")
    with eas.checked(False):
        assert not is_checked()
    assert is_checked()


def test_a_kernel_is_stronger_than_a_block() -> None:
    with eas.checked(True):
        assert not is_checked(unchecked)
    with eas.checked(False):
        assert is_checked(always)


def test_a_launch_is_stronger_than_its_kernel() -> None:
    assert is_checked(unchecked, _checked=True)
    assert not is_checked(always, _checked=False)


def test_a_choice_counts_from_its_call_on() -> None:
    eas.checked(False)
    assert not is_checked()


def test_a_block_counts_for_its_thread_only() -> None:
    with eas.checked(False), ThreadPoolExecutor(1) as pool:
        assert pool.submit(is_checked).result()


def test_launches_with_and_without_checks_may_alternate() -> None:
    assert [is_checked(_checked=on) for on in (True, False) * 3] == [True, False] * 3


@pytest.mark.parametrize("value", [1, 0, "yes", np.True_])
def test_a_choice_that_is_no_bool_is_refused(value: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        fill(np.zeros(8, np.float32), 8, BLOCK=8, _checked=value)
    assert f"`_checked` is True or False, not {value!r}" in str(caught.value)


def test_a_word_in_the_environment_that_says_neither_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EAS_CHECK", "maybe")
    with pytest.raises(LaunchError) as caught:
        fill(np.zeros(8, np.float32), 8, BLOCK=8)
    assert "EAS_CHECK is 1 or 0, not 'maybe'" in str(caught.value)


def test_of_faults_in_several_programs_the_first_is_reported() -> None:
    for _ in range(20):
        with pytest.raises(eas.KernelError) as caught:
            fill(np.zeros(64, np.float32), 64_000, BLOCK=64)
        notes = caught.value.diagnostics[0].notes
        assert notes[-1] == "program 1 of a grid of 1000, lane 0"


@eas.kernel
def two_steps(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, i < N)
    mk.store(y, i + 1, 2.0, i < N)


def test_what_was_written_before_a_fault_stays() -> None:
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(eas.KernelError):
        two_steps(x, y, 64, BLOCK=64)
    assert x.tolist() == [1.0] * 64


@eas.kernel
def counted(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    assert mk.load(x, i, i < N) >= 0.0, "no negative numbers"
    mk.store(y, i, 1.0, i < N)


def test_the_fast_path_of_a_launch_reports_as_the_first_launch_did() -> None:
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    counted(x, y, 64, BLOCK=32)
    counted(x, y, 64, BLOCK=32)
    x[40] = -1.0
    for _ in range(2):
        with pytest.raises(eas.KernelError) as caught:
            counted(x, y, 64, BLOCK=32)
        [found] = caught.value.diagnostics
        assert (found.code, found.notes) == ("R0401", ("program 1 of a grid of 2, lane 8",))


PROGRAM = """
import numpy as np
import eas
from eas import mk

@eas.kernel
def fill(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, mask=i < N)

x = np.ones(64, "f4")
try:
    fill(x, 6400, BLOCK=64)
except eas.KernelError as error:
    print(error.diagnostics[0].code)
print("alive", np.arange(100_000).sum())
"""


def test_a_process_outlives_a_kernel_that_writes_far_outside(tmp_path: Path) -> None:
    script = tmp_path / "far.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "R0102\nalive 4999950000\n"), done.stderr
