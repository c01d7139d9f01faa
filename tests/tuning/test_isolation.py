"""Calls in processes of their own: whatever they do, there is an answer."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eas.tuning import lifetimes
from eas.tuning.isolation import Child, Limits, Stopped, run_forked
from tests.processes import wait_until
from tests.thorough import sampled
from tests.tuning.calls import shout

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


@pytest.mark.skipif(sys.platform != "linux", reason="the system must count memory")
def test_shared_memory_of_the_caller_does_not_hide_what_a_call_takes() -> None:
    def fill() -> None:
        filled = bytearray(b"x") * (100 << 20)
        os.kill(os.getpid(), signal.SIGKILL)
        del filled

    with mmap.mmap(-1, 200 << 20) as shared:
        shared.write(bytes(200 << 20))
        assert stopped(fill, memory=1 << 27)[0] == "memory"


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


READY = f"{HERE}:get_ready"


def test_a_prepared_call_runs_in_a_copy_of_its_process(child: Child) -> None:
    """What is prepared stays for the next call; what a call changes does not."""
    found = [child.call(f"{HERE}:state", 1, prepare=READY) for _ in range(3)]
    assert found == [{"prepared": n + 1, "calls": 1} for n in range(3)]


@pytest.mark.parametrize(
    ("what", "status", "reason"),
    [
        ("segfault", "crashed", "its process died of SIGSEGV"),
        ("abort", "crashed", "its process died of SIGABRT"),
        ("exit", "crashed", "its process exited with code 0"),
        ("hang", "timeout", "no result after 0.5 s"),
        ("fill", "memory", "its process died of SIGSEGV, after it took "),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="copies of a child, and limits of memory")
def test_a_bad_call_ends_only_its_copy(child: Child, what: str, status: str, reason: str) -> None:
    seconds = 0.5 if what == "hang" else 20.0
    with pytest.raises(Stopped) as found:
        child.call(f"{HERE}:run_as_asked", what, prepare=READY, seconds=seconds)
    assert (found.value.status, found.value.reason[: len(reason)]) == (status, reason)
    assert child.call(f"{HERE}:state", prepare=READY)["prepared"] == 2


@pytest.mark.skipif(sys.platform != "linux", reason="copies of a child, and limits of memory")
def test_memory_that_a_call_leaks_is_not_missing_for_the_next(child: Child) -> None:
    for _ in range(3):
        assert child.call(f"{HERE}:run_as_asked", "leak", prepare=READY) == 300 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="processes that are adopted")
def test_a_process_that_a_call_leaves_behind_is_ended(child: Child) -> None:
    number = child.call(f"{HERE}:leave_a_daemon", prepare=f"{HERE}:get_ready")
    assert is_gone(number)


@pytest.mark.skipif(sys.platform != "linux", reason="calls in copies")
def test_what_a_copy_prints_is_dropped(child: Child, capfd: pytest.CaptureFixture[str]) -> None:
    child.call(f"{HERE}:shout", prepare=f"{HERE}:get_ready")
    run_forked(shout, Limits())
    assert capfd.readouterr() == ("", "")


def test_the_time_to_prepare_does_not_count(child: Child) -> None:
    assert child.call(f"{HERE}:process_number", prepare=f"{HERE}:get_ready_slowly", seconds=0.5)


PARENT = """
import sys
from eas.tuning.isolation import Child, Limits, run_forked
from tests.tuning.calls import hang_and_say
kind, path = sys.argv[1:]
if kind == "forked":
    run_forked(lambda: hang_and_say(path), Limits(seconds=500.0))
child = Child(Limits(seconds=500.0))
prepare = "tests.tuning.calls:get_ready" if kind == "copied" else None
child.call("tests.tuning.calls:hang_and_say", path, prepare=prepare)
"""


@sampled(3)
@pytest.mark.parametrize("kind", ["copied", "forked", "called"])
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they end after their time")
def test_a_call_ends_when_the_process_that_waits_is_killed(kind: str, tmp_path: Path) -> None:
    said = tmp_path / "number"
    with subprocess.Popen([sys.executable, "-c", PARENT, kind, str(said)]) as parent:
        wait_until(lambda: said.exists() and said.read_text("ascii").endswith("\n"))
        number = int(said.read_text("ascii"))
        os.kill(number, 0)
        parent.kill()
    assert is_gone(number)


def is_gone(number: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_a_call_that_nobody_waits_for_ends_after_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The alarm alone: nobody kills the process."""
    monkeypatch.setattr(lifetimes, "GRACE", 0.0)
    process = os.fork()
    if process == 0:
        lifetimes.end_after(0.2)
        while True:
            pass
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGALRM
