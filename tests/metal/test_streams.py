"""Asynchronous launches on Metal: batches, events between queues, copies, errors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eas
from eas import gpu
from eas.runtime.metal import MetalError, queue
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.hazards import Ledger
from tests.metal.kernels import talk
from tests.metal.simulated import Machine
from tests.processes import in_a_fork
from tests.streams.elementwise import add
from tests.streams.gates import demand, mix, scale, spoil
from tests.thorough import sampled


@pytest.fixture(autouse=True)
def no_errors_are_left(any_gpu: None) -> Iterator[None]:
    del any_gpu
    yield
    eas.synchronize()
    assert not ACTIVE


def ones(n: int = 100) -> Any:
    return np.ones(n, np.float32)


def queue_of(s: eas.Stream) -> queue.MetalQueue:
    assert isinstance(s.queue, queue.MetalQueue)
    return s.queue


def newest(count: int) -> int:
    return count - 1


def test_launches_of_a_stream_run_in_their_order() -> None:
    x = ones()
    for factor in (2.0, 3.0, 5.0):
        scale(x, factor, 100, BLOCK=32, _sync=False)
    eas.synchronize()
    assert x.tolist() == [30.0] * 100


def test_results_are_there_after_a_synchronous_launch_on_the_same_memory() -> None:
    x = ones()
    scale(x, 2.0, 100, BLOCK=32, _sync=False)
    scale(x, 3.0, 100, BLOCK=32)
    assert x.tolist() == [6.0] * 100


def mixed(count: int, *, is_serial: bool, seed: int = 7) -> list[list[int]]:
    """What is in four arrays after launches on two streams that depend on each other."""
    rng = np.random.default_rng(seed)
    arrays = [np.full(64, k, np.int32) for k in range(4)]
    both = [eas.Stream("metal"), eas.Stream("metal")]
    for _ in range(count):
        x, y, out = rng.choice(4, 3, replace=False)
        with eas.stream(both[rng.integers(2)]):
            mix(arrays[x], arrays[y], arrays[out], 64, BLOCK=64, _sync=is_serial, _backend=BACKEND)
    eas.synchronize()
    return [array.tolist() for array in arrays]


BACKEND: Any = "metal"


def serial(count: int) -> list[list[int]]:
    rng = np.random.default_rng(7)
    arrays = [np.full(64, k, np.int64) for k in range(4)]
    for _ in range(count):
        x, y, out = rng.choice(4, 3, replace=False)
        rng.integers(2)
        arrays[out] = (arrays[out] * 3 + arrays[x] * 5 + arrays[y] * 7 + 1) % 251
    return [array.tolist() for array in arrays]


ORDERS: dict[str, Any] = {
    "in order": None,
    "the newest first": newest,
    "at random": random.Random(3).randrange,
}


@sampled(3)
@pytest.mark.parametrize("order", ORDERS)
def test_a_thousand_launches_on_two_streams_give_the_serial_result(
    order: str, request: pytest.FixtureRequest
) -> None:
    set_order(request, ORDERS[order])
    count = 1000 if order == "the newest first" else 200
    assert mixed(count, is_serial=False) == serial(count)


def set_order(request: pytest.FixtureRequest, choose: Any) -> None:
    from tests.backends import IS_ON_DEVICE

    if not IS_ON_DEVICE:
        request.getfixturevalue("machine").choose = choose


class TestPlantedBugs:
    """Each would be silent on a GPU that happens to run commands in order."""

    def test_a_missing_wait_for_another_queue_shows(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine.choose = newest
        monkeypatch.setattr(queue.Batch, "wait_for", lambda self, event, value: None)
        assert mixed(60, is_serial=False) != serial(60)

    def test_a_ledger_that_forgets_readers_shows(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine.choose = newest
        needs = Ledger.needs

        def forget_readers(self: Any, accesses: Any) -> Any:
            return needs(self, [(begin, end, False) for begin, end, _ in accesses])

        monkeypatch.setattr(Ledger, "needs", forget_readers)
        assert mixed(200, is_serial=False) != serial(200)

    def test_results_that_are_copied_too_early_show(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        del machine
        monkeypatch.setattr(queue, "wait", lambda *arguments: None)
        x = ones()
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
        eas.synchronize()
        assert x.tolist() != [2.0] * 100


def test_launches_are_batched_while_the_gpu_is_busy(machine: Machine) -> None:
    machine.faults.hangs = True
    x, s = ones(), eas.Stream("metal")
    with eas.stream(s):
        for _ in range(40):
            scale(x, 1.0, 100, BLOCK=32, _sync=False)
    sizes = [len(batch.launches) for batch in queue_of(s).batches()]
    assert sizes == [1, 1, 16, 16, 6]
    assert machine.alive["MTLCommandBuffer"] == 5
    s.queue.cancel()


def test_no_more_command_buffers_are_unfinished_than_metal_allows(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del machine
    monkeypatch.setattr(queue, "MOST_LAUNCHES", 1)
    x, s = ones(4), eas.Stream("metal")
    with eas.stream(s):
        for _ in range(150):
            scale(x, 1.0, 4, BLOCK=32, _sync=False)
            assert len(queue_of(s).batches()) < 64
    s.synchronize()


def test_arrays_stay_on_the_gpu_between_launches(machine: Machine) -> None:
    machine.faults.hangs = True
    x, s = ones(), eas.Stream("metal")
    with eas.stream(s):
        for _ in range(10):
            scale(x, 1.0, 100, BLOCK=32, _sync=False)
    assert machine.alive["MTLBuffer"] == 1
    s.queue.cancel()


def test_arrays_that_overlap_in_another_way_are_copied_anew() -> None:
    x = ones(128)
    scale(x[:64], 2.0, 64, BLOCK=64, _sync=False)
    scale(x[32:96], 3.0, 64, BLOCK=64, _sync=False)
    scale(x, 5.0, 128, BLOCK=64, _sync=False)
    eas.synchronize()
    assert x.tolist() == [10.0] * 32 + [30.0] * 32 + [15.0] * 32 + [5.0] * 32


def test_an_error_is_raised_once_with_the_place_of_the_call() -> None:
    demand(ones() * 60, 100, BLOCK=32, _sync=False)
    with pytest.raises(
        eas.KernelError, match=f"in the launch of `demand` at {__file__}:"
    ) as caught:
        eas.synchronize()
    assert "assertion failed: too large" in str(caught.value)
    eas.synchronize()


def test_an_error_comes_with_what_was_computed_from_it() -> None:
    x = ones()
    spoil(x, 100, BLOCK=32, _sync=False)
    with eas.stream() as other:
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `spoil`"):
        other.synchronize()
    eas.synchronize()


def test_a_kernel_that_prints_runs_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    x = ones(1)
    scale(x, 3.0, 1, BLOCK=1, _sync=False)
    talk[1](x, BLOCK=1, _sync=False)
    scale(x, 3.0, 1, BLOCK=1, _sync=False)
    eas.synchronize()
    assert capsys.readouterr().out == "program 0\nvalue 3.0 of 0\n"
    assert x[0] == 9.0


def test_events_on_metal() -> None:
    x = ones()
    first, second = eas.Stream("metal"), eas.Stream("metal")
    with eas.stream(first):
        start = first.record()
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
        end = first.record()
    second.wait(end)
    done = second.record()
    done.synchronize()
    assert (start.query(), end.query(), done.query()) == (True, True, True)
    assert start.elapsed(end) >= 0
    first.synchronize()
    assert x[0] == 2.0


def test_launches_on_the_cpu_and_on_metal_are_ordered() -> None:
    x = ones()
    for backend in ("cpu", "metal", "metal", "cpu", "metal", "cpu"):
        scale(x, 2.0, 100, BLOCK=32, _sync=False, _backend=backend)
    eas.synchronize()
    assert x[0] == 64.0


def test_a_stream_of_another_device_is_refused() -> None:
    with eas.stream(eas.Stream("cpu")), pytest.raises(eas.LaunchError) as caught:
        scale(ones(), 2.0, 100, BLOCK=32, _sync=False)
    message = "the launch runs on metal, but the stream of this `with` block is one of cpu"
    assert str(caught.value) == f"kernel `scale`: {message}"


def test_a_gpu_that_fails_is_reported_for_each_launch_of_the_batch(machine: Machine) -> None:
    machine.faults.command_error = ("MTLCommandBufferErrorDomain", 8, "no memory")
    x, y = ones(), ones()
    scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with pytest.raises(MetalError, match=r"^kernel `scale`: the GPU has no memory left") as caught:
        eas.synchronize()
    assert caught.value.__notes__[0].startswith("in the launch of `scale` at ")
    machine.faults.command_error = None
    scale(y, 2.0, 100, BLOCK=32, _sync=False)
    eas.synchronize()
    assert (x[0], y[0]) == (1.0, 2.0)


def test_a_gpu_that_does_not_end_is_given_up(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_METAL_SECONDS", "0.1")
    machine.faults.hangs = True
    x = ones()
    with eas.stream() as s:
        for _ in range(5):
            scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with pytest.raises(MetalError, match=r"it did not end within 0\.1 seconds"):
        s.synchronize()
    machine.faults.hangs = False
    with eas.stream(s):
        scale(x, 3.0, 100, BLOCK=32, _sync=False)
    s.synchronize()
    assert x[0] == 3.0


def test_a_launch_that_the_gpu_cannot_take_is_refused_at_once(machine: Machine) -> None:
    machine.most_buffer_bytes = 64
    with pytest.raises(MetalError, match="has buffers of up to 64"):
        scale(ones(), 2.0, 100, BLOCK=32, _sync=False)
    machine.most_buffer_bytes = 1 << 33
    x = ones()
    scale(x, 2.0, 100, BLOCK=32, _sync=False)
    eas.synchronize()
    assert x[0] == 2.0


def test_many_launches_leave_nothing_behind(machine: Machine) -> None:
    x = ones()
    with eas.stream() as s:
        for _ in range(100):
            scale(x, 1.0, 100, BLOCK=32, _sync=False)
    s.synchronize()
    assert machine.alive["MTLBuffer"] == 0
    assert machine.alive["MTLSharedEvent"] == 1


def test_a_forked_process_cannot_launch_on_metal(machine: Machine) -> None:
    del machine
    x = ones()
    scale(x, 2.0, 100, BLOCK=32, _sync=False)

    def use() -> str:
        with pytest.raises(MetalError) as caught:
            scale(x, 2.0, 100, BLOCK=32, _sync=False)
        return str(caught.value)

    assert in_a_fork(use).startswith("this process was forked from ")
    eas.synchronize()
    assert x[0] == 2.0


@sampled(3)
@pytest.mark.parametrize("storage", ["shared", "private"])
@pytest.mark.parametrize("order", ORDERS)
def test_tensors_on_metal_give_the_serial_result(
    storage: Any, order: str, request: pytest.FixtureRequest
) -> None:
    set_order(request, ORDERS[order])
    rng = np.random.default_rng(7)
    tensors = [eas.empty(64, dtype="i32", device="metal", storage=storage) for _ in range(4)]
    for k, tensor in enumerate(tensors):
        tensor.fill_(k)
    both = [eas.Stream("metal"), eas.Stream("metal")]
    for _ in range(100):
        x, y, out = rng.choice(4, 3, replace=False)
        with eas.stream(both[rng.integers(2)]):
            mix(tensors[x], tensors[y], tensors[out], 64, BLOCK=64, _sync=False)
    assert [tensor.tolist() for tensor in tensors] == serial(100)


def test_a_tensor_on_metal_waits_for_its_writer_and_raises_its_error() -> None:
    x = eas.ones(100, device="metal")
    scale(x, 3.0, 100, BLOCK=32, _sync=False)
    assert x[5].item() == 3.0
    spoil(x, 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `spoil`"):
        x.numpy()


def test_memory_of_a_tensor_is_reused_after_its_last_launch(machine: Machine) -> None:
    machine.faults.hangs = True
    with eas.stream() as s:
        x = eas.ones(100, device="metal")
        scale(x, 3.0, 100, BLOCK=32, _sync=False)
    address = x.__eas_array__().ctypes.data
    del x
    assert eas.empty(100, device="metal").__eas_array__().ctypes.data != address
    queue_of(s).cancel()
    machine.faults.hangs = False
    assert eas.empty(100, device="metal").__eas_array__().ctypes.data == address


def test_a_graph_is_replayed_on_metal() -> None:
    x, y = ones(), ones() * 2
    with eas.graph() as g:
        scale(x, 3.0, 100, BLOCK=32)
        add(x, y, y, 100, BLOCK=32)
    assert (x[0], y[0]) == (1.0, 2.0)
    g.replay()
    assert (x.tolist(), y.tolist()) == ([3.0] * 100, [5.0] * 100)
    g.replay(factor=2.0)
    assert (x[0], y[0]) == (6.0, 11.0)
    g.replay(_sync=False)
    g.replay(_sync=False, factor=0.5)
    eas.synchronize()
    assert (x[0], y[0]) == (9.0, 38.0)


def test_a_graph_on_metal_takes_arrays_that_overlap() -> None:
    x = np.ones(100, np.float32)
    with eas.graph() as g:
        scale(x, 2.0, 100, BLOCK=32)
        scale(x[:50], 3.0, 50, BLOCK=32)
        scale(x[25:75], 5.0, 50, BLOCK=32)
    for power in (1, 2):
        g.replay(_sync=power == 1)
        scale(x[:25], 1.0, 25, BLOCK=32, _sync=False)
        eas.synchronize()
        expected = [6.0**power] * 25 + [30.0**power] * 25 + [10.0**power] * 25 + [2.0**power] * 25
        assert x.tolist() == expected


def test_a_graph_of_tensors_uses_one_command_buffer_and_binds_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = eas.ones(100, device="metal"), eas.ones(100, device="metal")
    with eas.graph() as g:
        for _ in range(10):
            add(x, y, x, 100, BLOCK=32)
    g.replay()
    before = len(machine.labels)
    monkeypatch.setattr(gpu, "bind", None)
    g.replay()
    assert x.tolist() == [21.0] * 100
    assert len(machine.labels) - before == 10
    assert machine.alive["MTLCommandBuffer"] <= 1


def test_an_error_of_a_graph_on_metal_names_its_launch() -> None:
    x, y = ones() * 60, ones()
    with eas.graph() as g:
        scale(y, 2.0, 100, BLOCK=32)
        demand(x, 100, BLOCK=32)
    with pytest.raises(eas.KernelError, match="in the launch of `demand`, recorded at "):
        g.replay()
    x[:] = 0
    g.replay()
    assert y[0] == 4.0


def test_launches_are_fused_on_metal() -> None:
    x, y, out = ones(), ones() * 2, ones()
    with eas.graph(fuse=True) as g:
        add(x, y, out, 100, BLOCK=32)
        scale(out, -3.0, 100, BLOCK=32)
        add(out, x, x, 100, BLOCK=32)
    g.replay()
    assert (len(g), out[0], x[0]) == (1, -9.0, -8.0)


def test_a_graph_of_two_devices_is_replayed_in_its_order() -> None:
    x = ones()
    with eas.graph() as g:
        scale(x, 2.0, 100, BLOCK=32)
        scale(x, 3.0, 100, BLOCK=32, _backend="cpu")
        scale(x, 5.0, 100, BLOCK=32)
    g.replay()
    assert x[0] == 30.0
    with pytest.raises(eas.GraphError, match=r"^its launches run on cpu and on metal: replay it"):
        g.replay(_sync=False)
