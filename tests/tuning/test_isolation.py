"""Calls in processes of their own: whatever they do, there is an answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from eas.tuning.isolation import Child, Limits, Stopped, run_forked

HERE = "tests.tuning.calls"


def stopped(
    call: Callable[[], object], seconds: float = 20.0, memory: int = 1 << 30
) -> tuple[str, str]:
    with pytest.raises(Stopped) as found:
        run_forked(call, Limits(seconds, memory))
    return found.value.status, found.value.reason


def test_a_forked_call_gives_its_result() -> None:
    assert run_forked(lambda: {"sum": 2 + 3}, Limits()) == {"sum": 5}


def test_a_large_result_of_a_forked_call_is_whole() -> None:
    assert len(run_forked(lambda: b"x" * 3_000_000, Limits())) == 3_000_000


def test_an_error_of_a_forked_call_is_its_reason() -> None:
    assert stopped(lambda: 1 // 0) == (
        "failed",
        "ZeroDivisionError: integer division or modulo by zero",
    )


def test_a_forked_call_that_dies_is_a_crash_with_the_signal() -> None:
    assert stopped(lambda: os.kill(os.getpid(), signal.SIGKILL)) == (
        "crashed",
        "its process died of SIGKILL",
    )


def test_a_forked_call_that_exits_is_a_crash() -> None:
    assert stopped(lambda: os._exit(3)) == ("crashed", "its process exited with code 3")


def test_a_forked_call_that_hangs_is_stopped() -> None:
    begun = time.monotonic()
    assert stopped(lambda: time.sleep(60), seconds=0.3)[0] == "timeout"
    assert time.monotonic() - begun < 30


def test_a_forked_call_that_takes_too_much_memory_is_stopped() -> None:
    assert stopped(lambda: bytearray(1 << 31), memory=1 << 28)[0] == "memory"


def test_a_forked_call_leaves_no_process_behind() -> None:
    process = run_forked(os.getpid, Limits())
    with pytest.raises(ChildProcessError):
        os.waitpid(process, os.WNOHANG)


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child(Limits(seconds=20.0, memory=1 << 29))
    yield made
    made.close()


def test_a_child_calls_functions_by_name_and_stays(child: Child) -> None:
    first = child.call(f"{HERE}:process_number")
    assert first != os.getpid()
    assert child.call(f"{HERE}:process_number") == first


def test_a_child_that_was_stopped_is_replaced(child: Child) -> None:
    first = child.call(f"{HERE}:process_number")
    with pytest.raises(Stopped, match="no result after"):
        child.call(f"{HERE}:hang", seconds=0.3)
    assert child.call(f"{HERE}:process_number") != first


def test_a_child_that_dies_is_a_crash(child: Child) -> None:
    with pytest.raises(Stopped, match="died of SIGKILL"):
        child.call(f"{HERE}:die")


def test_a_child_has_a_limit_of_memory(child: Child) -> None:
    child.call(f"{HERE}:process_number")
    with pytest.raises(Stopped) as found:
        child.call(f"{HERE}:take", 1 << 31)
    assert found.value.status == "memory"


def test_what_a_child_prints_is_no_answer(child: Child) -> None:
    assert child.call(f"{HERE}:chatter") == "quiet"
