"""Kernels that go wrong: Python lives on, and the error names the kernel."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest

from eas.msl.host import Builder, Host, HostError, Limits, load
from eas.msl.host.worker_client import patience
from eas.support.cache import open_cache
from tests.host.texts import HEAD, run_text
from tests.processes import PATIENCE, in_a_fork, is_alive, wait_until

DOUBLE = HEAD + (
    "kernel void twice(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] *= 2;\n"
    "}\n"
)
ENDLESS = HEAD + (
    "kernel void endless(device int* x [[buffer(0)]]) {\n"
    "    volatile int i = 0;\n"
    "    while (i == 0) { x[0] += 1; }\n"
    "}\n"
)


def message_of(host: Host, text: str) -> str:
    with pytest.raises(HostError) as caught:
        run_text(host, text, np.zeros(4, np.int32))
    return str(caught.value)


def works(host: Host) -> bool:
    x = np.arange(4, dtype=np.int32)
    run_text(host, DOUBLE, x, threads=(4, 1, 1))
    return x.tolist() == [0, 2, 4, 6]


def test_a_kernel_that_does_not_end_is_stopped(host: Host) -> None:
    impatient = Host(host.builder, Limits(seconds=0.3))
    assert message_of(impatient, ENDLESS) == (
        "kernel `endless`: it did not end within 0.3 seconds and was stopped"
    )
    patient = Host(host.builder)
    assert works(patient)
    patient.stop()


def test_a_wild_write_does_not_reach_python(host: Host) -> None:
    text = HEAD + "kernel void wild(device int* x [[buffer(0)]]) { x[1l << 40] = 1; }\n"
    assert message_of(host, text) == (
        "kernel `wild`: it accessed memory outside of its arrays, or needs too much stack, and was "
        "stopped (SIGSEGV)"
    )
    assert works(host)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other machines give a number")
def test_a_division_by_zero_does_not_reach_python(host: Host) -> None:
    text = HEAD + "kernel void divide(device int* x [[buffer(0)]]) { x[0] = x[2] / x[1]; }\n"
    assert message_of(host, text) == (
        "kernel `divide`: it divided an integer by zero and was stopped (SIGFPE)"
    )
    assert works(host)


def test_too_much_stack_does_not_reach_other_threads(host: Host) -> None:
    text = HEAD + (
        "kernel void deep(device int* x [[buffer(0)]]) {\n"
        "    volatile int big[80000000];\n"
        "    simdgroup_barrier(mem_flags::mem_none);\n"
        "    big[x[0]] = 1;\n"
        "    x[0] = big[0];\n"
        "}\n"
    )
    assert "SIGSEGV" in message_of(host, text)
    assert works(host)


def test_a_killed_worker_is_reported_and_replaced(host: Host) -> None:
    assert works(host)
    done = threading.Event()
    killer = threading.Thread(target=kill_again_and_again, args=(host, done))
    killer.start()
    assert message_of(host, ENDLESS) == (
        "kernel `endless`: its process was killed, by a user or for lack of memory (SIGKILL)"
    )
    done.set()
    killer.join()
    assert works(host)


def kill_again_and_again(host: Host, done: threading.Event) -> None:
    """A kill may come before the kernel runs: then another worker takes over."""
    while not done.wait(0.2):
        pid = host.pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_worker_that_died_between_launches_is_replaced(host: Host) -> None:
    assert works(host)
    worker = host.pid
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not is_alive(worker))
    assert works(host)
    assert host.pid != worker


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the instructions are of one machine")
@pytest.mark.parametrize(
    "said", ["garbage that is no length", "\\x02\\0\\0\\0[]", "\\x02\\0\\0\\0{]"]
)
def test_a_kernel_that_speaks_for_its_process_is_not_believed(host: Host, said: str) -> None:
    text = HEAD + (
        "kernel void forge(device int* x [[buffer(0)]]) {\n"
        f'    const char* text = "{said}";\n'
        "    long result = 1;\n"
        '    __asm__ volatile("syscall" : "+a"(result) : "D"(1l), "S"(text), "d"(25l)\n'
        '                     : "rcx", "r11", "memory");\n'
        "}\n"
    )
    assert message_of(host, text) == (
        "kernel `forge`: it has damaged the process that it ran in, which was stopped"
    )
    assert works(host)


def test_arrays_beyond_the_limit_of_memory_are_reported(host: Host) -> None:
    small = Host(host.builder, Limits(PATIENCE, memory=500 << 20))
    with pytest.raises(HostError, match=r"^kernel `twice`: it cannot be run: .*[Mm]emory"):
        run_text(small, DOUBLE, np.zeros(100 << 20, np.int32))
    assert works(small)
    small.stop()


def test_a_failed_launch_leaves_the_arrays_as_they_were(host: Host) -> None:
    x = np.arange(4, dtype=np.int32)
    text = HEAD + (
        "kernel void half_done(device int* x [[buffer(0)]]) { x[0] = 9; x[1l << 40] = 1; }\n"
    )
    with pytest.raises(HostError):
        run_text(host, text, x)
    assert x.tolist() == [0, 1, 2, 3]


def test_threads_that_return_before_a_barrier_are_reported(host: Host) -> None:
    text = HEAD + (
        "kernel void early(device int* x [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
        "    if (t > 5) { return; }\n"
        "    threadgroup_barrier(mem_flags::mem_none);\n"
        "    x[0] = 1;\n"
        "}\n"
    )
    with pytest.raises(HostError) as caught:
        run_text(host, text, np.zeros(1, np.int32), threads=(40, 1, 1))
    assert str(caught.value) == (
        "kernel `early`: line 5 of the Metal text: threads wait at this barrier, but others have "
        "returned (thread 39 of threadgroup (0, 0, 0))"
    )


def test_threads_at_different_barriers_are_reported(host: Host) -> None:
    text = HEAD + (
        "kernel void apart(device int* x [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
        "    if (t < 5) {\n"
        "        threadgroup_barrier(mem_flags::mem_none);\n"
        "    } else {\n"
        "        threadgroup_barrier(mem_flags::mem_none);\n"
        "    }\n"
        "    x[0] = 1;\n"
        "}\n"
    )
    with pytest.raises(HostError) as caught:
        run_text(host, text, np.zeros(1, np.int32), threads=(40, 1, 1))
    assert str(caught.value) == (
        "kernel `apart`: lines 5 and 7 of the Metal text: threads of a group wait at different "
        "barriers, or in different trips of a loop (thread 5 of threadgroup (0, 0, 0))"
    )


def test_two_threads_of_python_can_launch_at_once(host: Host) -> None:
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.extend(works(host) for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 80


def test_a_forked_process_has_a_worker_of_its_own() -> None:
    from eas.msl.host import default_host

    host = default_host()
    assert works(host)
    child = os.fork()
    if child == 0:
        os._exit(0 if default_host() is not host and works(default_host()) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert works(host)


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan", "inf"])
def test_a_bad_limit_of_seconds_is_reported(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_HOST_SECONDS", text)
    with pytest.raises(HostError) as caught:
        patience()
    assert str(caught.value) == (
        f"`EAS_HOST_SECONDS` must be a number of seconds above 0, not `{text}`"
    )


WITHOUT_STANDARD_FILES = """
import os
for file in {closed}:
    os.close(file)
import numpy as np
from eas.msl import host
x = np.zeros(64, np.float32)
host.load({text!r}).fill(x, threads=64, per_group=32)
os._exit(0 if (x == np.arange(64)).all() else 3)
"""
FILL = """#include <metal_stdlib>
using namespace metal;
kernel void fill(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = simd_broadcast_first(i) + i % 32;
}
"""


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_a_process_without_standard_files_can_launch(closed: tuple[int, ...]) -> None:
    code = WITHOUT_STANDARD_FILES.format(closed=closed, text=FILL)
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, check=False)
    assert done.returncode == 0


def test_a_frame_beyond_its_stack_is_stopped_in_any_thread(host: Host) -> None:
    far = "if (i == 40) { volatile float far[9000000]; far[int(x[i])] = 1; }"
    text = FILL.replace("x[i] =", f"{far}\n    x[i] =")
    x = np.zeros(64, np.float32)
    with pytest.raises(HostError, match="needs too much stack"):
        load(text, host=host).fill(x, threads=64, per_group=64)
    np.testing.assert_array_equal(x, 0)


def test_a_worker_outlives_the_thread_that_started_it(host: Host) -> None:
    host.stop()
    starter = threading.Thread(target=works, args=(host,))
    starter.start()
    starter.join()
    started = host.pid
    # Linux can send a signal when the thread has ended, which is after `join`.
    wait_until(lambda: not os.path.exists(f"/proc/self/task/{starter.native_id}"))
    assert works(host)
    assert host.pid == started


ORPHAN = """
import numpy as np
from eas.msl import host
from eas.msl.host import worker_client

receive = worker_client._receive

def announce_and_receive(process, deadline):
    print(process.pid, flush=True)  # the request was sent
    return receive(process, deadline)

worker_client._receive = announce_and_receive
host.load({text!r}).endless(np.zeros(4, np.int32), threads=4)
"""


def test_an_endless_kernel_ends_with_the_process_that_launched_it() -> None:
    code = ORPHAN.format(text=ENDLESS)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout is not None
        worker = int(launcher.stdout.readline())
        assert is_alive(worker)
        launcher.kill()
    wait_until(lambda: not is_alive(worker))


AT_EXIT = """
import numpy as np
from tests.kernels.add import add

a, c = np.ones(100, "f4"), np.zeros(100, "f4")
add(a, a, c, 100, BLOCK=64, _backend="msl-host")
"""


def test_a_process_ends_its_worker_when_it_ends() -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", AT_EXIT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_host_that_nothing_uses_ends_its_worker() -> None:
    host = Host(limits=Limits(PATIENCE))
    assert works(host)
    worker = host.pid
    assert worker is not None
    assert is_alive(worker)
    del host
    gc.collect()
    assert not is_alive(worker)


ENDS_AT_ONCE = (
    AT_EXIT
    + """
import os
from eas.msl.host import default_host

print(default_host().builder.runtime().parent, default_host().pid)
sys.stdout.flush()
os._exit(0)
"""
)


def test_a_process_that_ends_at_once_leaves_no_files() -> None:
    said = subprocess.check_output([sys.executable, "-c", f"import sys\n{ENDS_AT_ONCE}"], text=True)
    folder, worker = said.rsplit(maxsplit=1)
    wait_until(lambda: not is_alive(int(worker)))
    assert not os.path.exists(folder)


def test_a_forked_process_has_files_of_its_own() -> None:
    builder = Builder(open_cache())
    ours = builder.build([DOUBLE]).path
    theirs = in_a_fork(lambda: str(builder.build([DOUBLE.replace("2", "3")]).path))
    assert theirs
    assert os.path.dirname(theirs) != str(ours.parent)
    assert ours.exists()
