"""What goes wrong on a GPU: a clear error for each, and arrays that stay as they were."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import eas
from eas.config import BackendError, resolve_backend
from eas.msl.arrays import divide
from eas.msl.host import Host, Limits
from eas.runtime import metal
from eas.runtime.metal import MetalError, completion
from tests.metal.conftest import forget_device
from tests.metal.kernels import shift, spin, stray, twice
from tests.metal.simulated import Machine
from tests.metal.simulated.encoders import MTLComputeCommandEncoder
from tests.metal.simulated.objects import constant
from tests.processes import PATIENCE, in_a_fork, wait_until

GPU = "Apple M1 (simulated)"


def message_of_launch() -> str:
    """What a launch raises; its array must not have changed."""
    x = np.arange(4, dtype=np.float32)
    with pytest.raises((MetalError, eas.LaunchError)) as caught:
        twice(x, 4, BLOCK=4)
    assert x.tolist() == [0, 1, 2, 3]
    return str(caught.value)


def test_a_machine_that_is_no_mac_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Metal", None)
    monkeypatch.setattr(sys, "platform", "linux")
    forget_device()
    with pytest.raises(BackendError) as caught:
        resolve_backend("metal")
    assert str(caught.value).startswith(
        "the backend `metal` is not available here (Metal needs a Mac, and this is `linux`); "
    )


def test_a_mac_without_pyobjc_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Metal", None)
    monkeypatch.setattr(sys, "platform", "darwin")
    forget_device()
    assert "`pip install pyobjc-framework-Metal`" in metal.missing()


def test_a_mac_without_a_gpu_is_named(machine: Machine) -> None:
    machine.faults.has_no_device = True
    assert message_of_launch().startswith(
        "kernel `twice`: the backend `metal` is not available here (Metal finds no GPU: "
    )


@pytest.mark.usefixtures("machine")
def test_mps_is_another_name_of_the_backend() -> None:
    assert resolve_backend("mps") == "metal"


def test_auto_is_the_gpu_of_a_mac(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert resolve_backend("auto") == "metal"
    forget_device()
    machine.faults.has_no_device = True
    assert resolve_backend("auto") != "metal"


def test_without_a_preferred_gpu_the_first_one_is_taken(machine: Machine) -> None:
    machine.faults.has_no_default_device = True
    x = np.ones(4, np.float32)
    twice(x, 4, BLOCK=4)
    assert x.tolist() == [2.0] * 4


def test_a_gpu_without_a_queue_is_an_error(machine: Machine) -> None:
    machine.faults.has_no_queue = True
    assert message_of_launch() == f"{GPU} gives no queue for commands"


@pytest.mark.parametrize("fault", ["takes_no_commands", "has_no_encoder"])
def test_a_gpu_that_takes_no_commands_is_an_error(machine: Machine, fault: str) -> None:
    setattr(machine.faults, fault, True)
    assert message_of_launch() == f"kernel `twice`: {GPU} takes no commands"


def test_too_little_memory_names_the_array(machine: Machine) -> None:
    machine.faults.is_out_of_memory = True
    assert message_of_launch() == f"kernel `twice`: {GPU} has no memory for the 16 bytes of `x`"


def test_arrays_that_are_too_long_for_a_buffer_are_named(machine: Machine) -> None:
    machine.most_buffer_bytes = 40
    x, y = np.arange(16, dtype=np.int32), np.zeros(8, np.int32)
    with pytest.raises(MetalError) as caught:
        shift[1](x, y, 8, BLOCK=8)
    assert str(caught.value) == (
        f"kernel `shift`: 64 bytes of `x`, but {GPU} has buffers of up to 40"
    )


def test_more_threads_than_the_gpu_has_for_a_kernel_are_refused(machine: Machine) -> None:
    machine.most_threads = 64
    x = np.ones(128, np.float32)
    with pytest.raises(MetalError) as caught:
        twice(x, 128, BLOCK=128)
    assert str(caught.value) == (
        f"kernel `twice`: it has 128 threads per program, but {GPU} runs only 64 of this kernel: "
        "launch it with `_tptg=64` or less"
    )
    twice(x, 128, BLOCK=128, _tptg=64)
    assert x.tolist() == [2.0] * 128


@pytest.mark.parametrize(("name", "words"), completion.ERRORS.items())
def test_every_error_of_a_command_buffer_has_words(machine: Machine, name: str, words: str) -> None:
    said = (completion.DOMAIN, constant(name), "Something failed")
    machine.faults.command_error = said
    assert message_of_launch() == (
        f"kernel `twice`: {words}. Metal says: Something failed "
        f"(MTLCommandBufferErrorDomain, {constant(name)})"
    )


@pytest.mark.parametrize("error", [(completion.DOMAIN, 99, "New"), ("Other", 3, "Elsewhere")])
def test_an_unknown_error_is_reported_as_it_is(
    machine: Machine, error: tuple[str, int, str]
) -> None:
    machine.faults.command_error = error
    domain, code, said = error
    assert message_of_launch() == (
        f"kernel `twice`: it failed on the GPU. Metal says: {said} ({domain}, {code})"
    )


def test_a_failure_without_an_error_is_one(machine: Machine) -> None:
    machine.faults.says_no_error = True
    assert message_of_launch() == (
        "kernel `twice`: it failed on the GPU, and Metal does not say why"
    )


def test_a_launch_after_a_failure_works(machine: Machine) -> None:
    machine.faults.command_error = (completion.DOMAIN, 2, "Timeout")
    message_of_launch()
    machine.faults.command_error = None
    x = np.ones(4, np.float32)
    twice(x, 4, BLOCK=4)
    assert x.tolist() == [2.0] * 4


def test_a_kernel_that_does_not_end_is_given_up(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_METAL_SECONDS", "0.05")
    machine.faults.hangs = True
    assert message_of_launch() == (
        "kernel `twice`: it did not end within 0.05 seconds; the GPU may still be at work on it "
        "(`EAS_METAL_SECONDS` sets the limit)"
    )
    monkeypatch.setenv("EAS_METAL_SECONDS", "60")
    machine.faults.hangs = False
    x = np.ones(4, np.float32)
    twice(x, 4, BLOCK=4)
    assert x.tolist() == [2.0] * 4


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", ""])
def test_a_limit_that_is_no_time_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("EAS_METAL_SECONDS", text)
    assert message_of_launch() == f"`EAS_METAL_SECONDS` is a number of seconds, not `{text}`"


@pytest.mark.usefixtures("machine")
def test_a_wild_kernel_gets_its_error_and_leaves_the_gpu_usable() -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(MetalError, match=r"^kernel `stray`: it accessed memory outside of its"):
        stray[1](x, 1 << 44)
    assert x.tolist() == [1.0] * 4
    stray[1](x, 2)
    assert x.tolist() == [1.0, 1.0, 7.0, 1.0]


def test_an_endless_kernel_is_stopped_as_macos_does(machine: Machine) -> None:
    machine.host = Host(machine.host.builder, Limits(seconds=1.0))
    with pytest.raises(MetalError, match=r"^kernel `spin`: it took too long, and the system "):
        spin[1](np.ones(4, np.float32), 1 << 40)
    machine.host.stop()


def test_an_interrupted_wait_leaves_the_gpu_usable(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def interrupt(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 50:
            raise KeyboardInterrupt
        time.sleep(0.002)

    machine.faults.hangs = True
    x = np.ones(4, np.float32)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        clock = SimpleNamespace(monotonic=time.monotonic, sleep=interrupt)
        patch.setattr(completion, "time", clock)
        twice(x, 4, BLOCK=4)
    machine.faults.hangs = False
    assert x.tolist() == [1.0] * 4
    twice(x, 4, BLOCK=4)
    assert x.tolist() == [2.0] * 4


def test_an_interrupted_encoding_ends_all_the_same(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: object, data: bytes, length: int, index: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MTLComputeCommandEncoder, "setBytes_length_atIndex_", interrupt)
        twice(np.ones(4, np.float32), 4, BLOCK=4)
    gc.collect()
    assert machine.troubles == []


EXIT = """
import numpy as np
from eas.runtime import metal
from tests.metal.kernels import twice
from tests.metal.simulated import install

install().faults.hangs = True
try:
    twice(np.ones(4, np.float32), 4, BLOCK=4, _backend="metal")
except metal.MetalError:
    print("given up", flush=True)
"""


def test_python_ends_while_the_gpu_is_still_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_METAL_SECONDS", "0.1")
    done = subprocess.run(
        [sys.executable, "-c", EXIT], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up\n", "")


def test_a_forked_process_cannot_use_the_gpu_and_says_so(machine: Machine) -> None:
    twice(np.ones(4, np.float32), 4, BLOCK=4)
    assert in_a_fork(message_of_launch) == (
        f"this process was forked from {os.getpid()}, which has used Metal; the GPU does not "
        "survive a fork. Start new processes: `multiprocessing.set_start_method('spawn')`"
    )
    assert machine.labels == ["twice"]


def test_what_was_made_before_a_fork_is_not_used_in_the_child(machine: Machine) -> None:
    device = metal.default_device()
    pipeline = device.pipeline(metal.Program(twice.to_msl("*f32", "i32", BLOCK=4), "twice", (2, 3)))
    dispatch = metal.Dispatch(device, pipeline, [], [], divide([]), 4, (1, 1, 1), 60.0)

    def use() -> str:
        with pytest.raises(MetalError) as caught:
            dispatch.run()
        return str(caught.value)

    assert in_a_fork(use).startswith(f"this process was forked from {os.getpid()}, ")
    assert machine.labels == []


def test_many_launches_leave_nothing_behind(machine: Machine) -> None:
    x = np.ones(4, np.float32)
    for _ in range(60):
        twice(x, 4, BLOCK=4)
    kept = {"MTLDevice": 1, "MTLCommandQueue": 1, "MTLComputePipelineState": 1}
    wait_until(lambda: +machine.alive == kept)  # the queue's thread lets go of the last commands


@pytest.mark.parametrize("own_references", [0, 2])
@pytest.mark.parametrize("knows", [False, True])
def test_what_a_launch_makes_is_freed_once(
    machine: Machine, knows: bool, own_references: int
) -> None:
    machine.knows_ownership, machine.own_references = knows, own_references
    for _ in range(3):
        twice(np.ones(4, np.float32), 4, BLOCK=4)
    assert metal.default_device().queue().retainCount() == 1 + own_references
