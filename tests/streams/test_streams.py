"""Streams, events and asynchronous launches, on every backend that runs here."""

from __future__ import annotations

import gc
import inspect
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eas
from eas.config import Backend
from eas.runtime.streams.active import ACTIVE
from tests.processes import wait_until
from tests.streams.elementwise import relu
from tests.streams.gates import Gate, demand, mix, scale, spoil

BACKENDS: tuple[Backend, ...] = ("cpu", "interpret", "msl-host")
on_each = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    yield
    eas.synchronize()
    assert not ACTIVE


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


def hold(s: eas.Stream, gate: Gate) -> None:
    """Has a stream wait for a gate."""
    s.submit(gate, "gate", (), ())


def ones(n: int = 100) -> Any:
    return np.ones(n, np.float32)


def line_here() -> int:
    """The line of the call."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


@on_each
def test_launches_of_a_stream_run_in_their_order(backend: Backend) -> None:
    x = ones()
    for factor in (2.0, 3.0, 5.0):
        scale(x, factor, 100, BLOCK=32, _sync=False, _backend=backend)
    eas.synchronize()
    assert x.tolist() == [30.0] * 100


def test_a_launch_uses_arrays_as_they_were_at_the_call(gate: Gate) -> None:
    x = np.ones((4, 25), np.float32)
    flat = x.reshape(100)
    for _ in range(2):  # the second one is like the first
        with eas.stream() as s:
            hold(s, gate)
            scale(flat, 2.0, 100, BLOCK=32, _sync=False)
        flat.flags.writeable = False
        gate.open()
        s.synchronize()
        flat = x.reshape(100)
    assert x.tolist() == [[4.0] * 25] * 4


def test_a_launch_returns_before_it_is_done(gate: Gate) -> None:
    x = ones()
    with eas.stream() as s:
        hold(s, gate)
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    assert x.tolist() == [1.0] * 100
    gate.open()
    s.synchronize()
    assert x.tolist() == [2.0] * 100


def test_launches_without_common_memory_do_not_wait_for_each_other(gate: Gate) -> None:
    x, y = ones(), ones()
    with eas.stream() as held:
        hold(held, gate)
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with eas.stream() as free:
        scale(y, 2.0, 100, BLOCK=32, _sync=False)
    free.synchronize()
    scale(y, 2.0, 100, BLOCK=32)
    assert (x[0], y[0]) == (1.0, 4.0)


def test_a_launch_waits_for_the_writer_of_what_it_reads_on_another_stream(gate: Gate) -> None:
    x, y, out = (np.full(64, k, np.int32) for k in (1, 2, 3))
    with eas.stream() as held:
        hold(held, gate)
        mix(x, x.copy(), y, 64, BLOCK=64, _sync=False)
    with eas.stream() as other:
        mix(y, x, out, 64, BLOCK=64, _sync=False)
        event = other.record()
    assert not event.query()
    gate.open()
    other.synchronize()
    first = 2 * 3 + 5 + 7 + 1
    assert (y[0], out[0]) == (first, (3 * 3 + first * 5 + 7 + 1) % 251)


def test_a_writer_waits_for_the_readers_on_other_streams(gate: Gate) -> None:
    x, out = np.full(64, 1, np.int32), np.zeros(64, np.int32)
    with eas.stream() as held:
        hold(held, gate)
        mix(x, x, out, 64, BLOCK=64, _sync=False)
    with eas.stream() as other:
        scale(x, 5, 64, BLOCK=64, _sync=False)
        event = other.record()
    assert not event.query()
    gate.open()
    eas.synchronize()
    assert (out[0], x[0]) == (13, 5)


def test_parts_of_an_array_are_ordered_by_their_bytes(gate: Gate) -> None:
    x = ones(128)
    with eas.stream() as held:
        hold(held, gate)
        scale(x[:64], 2.0, 64, BLOCK=64, _sync=False)
    with eas.stream() as other:
        scale(x[64:], 3.0, 64, BLOCK=64, _sync=False)
        apart = other.record()
        scale(x[32:96], 5.0, 64, BLOCK=64, _sync=False)
        across = other.record()
    apart.synchronize()
    assert not across.query()
    gate.open()
    eas.synchronize()
    assert x.tolist() == [2.0] * 32 + [10.0] * 32 + [15.0] * 32 + [3.0] * 32


def test_a_synchronous_launch_waits_for_the_writers_of_its_memory_only(gate: Gate) -> None:
    x, y = ones(), ones()
    with eas.stream() as held:
        hold(held, gate)
        scale(y, 2.0, 100, BLOCK=32, _sync=False)
    with eas.stream() as other:
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    scale(x, 3.0, 100, BLOCK=32)
    assert (x[0], y[0]) == (6.0, 1.0)
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    scale(y, 3.0, 100, BLOCK=32)
    assert y[0] == 6.0
    opener.join()
    other.synchronize()


@on_each
def test_a_thousand_launches_on_two_streams_give_the_serial_result(backend: Backend) -> None:
    count = 1000 if backend == "cpu" else 60
    assert mixed(backend, count, is_serial=False) == mixed(backend, count, is_serial=True)


def mixed(backend: Backend, count: int, *, is_serial: bool) -> list[list[int]]:
    """What is in four arrays after launches on two streams that depend on each other."""
    random = np.random.default_rng(7)
    arrays = [np.full(512, k, np.int32) for k in range(4)]
    both = [eas.Stream("cpu"), eas.Stream("cpu")]
    for _ in range(count):
        x, y, out = random.choice(4, 3, replace=False)
        with eas.stream(both[random.integers(2)]):
            mix(
                *(arrays[x], arrays[y], arrays[out], 512),
                BLOCK=128, _sync=is_serial, _backend=backend,
            )  # fmt: skip
    eas.synchronize()
    return [array.tolist() for array in arrays]


def test_a_stream_waits_for_an_event(gate: Gate) -> None:
    x = ones()
    held, other = eas.Stream("cpu"), eas.Stream("cpu")
    hold(held, gate)
    other.wait(held.record())
    with eas.stream(other):
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    done = other.record()
    assert (held.record().query(), done.query()) == (False, False)
    gate.open()
    done.synchronize()
    assert (done.query(), x[0]) == (True, 2.0)


def test_events_measure_time() -> None:
    s = eas.Stream("cpu")
    start = s.record()
    start.synchronize()
    time.sleep(0.01)
    end = s.record()
    end.synchronize()
    assert 0.01 <= start.elapsed(end) < 60
    assert end.elapsed(start) == -start.elapsed(end)


def test_the_time_of_an_event_that_has_not_happened_is_refused(gate: Gate) -> None:
    s = eas.Stream("cpu")
    start = s.record()
    hold(s, gate)
    end = s.record()
    with pytest.raises(
        RuntimeError, match=r"^an event has not happened yet: call its `synchronize"
    ):
        start.elapsed(end)


def test_a_launch_beyond_the_most_in_flight_waits(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_MAX_IN_FLIGHT", "3")
    x, s = ones(), eas.Stream("cpu")
    hold(s, gate)
    launched: list[int] = []

    def launch() -> None:
        for number in range(4):
            with eas.stream(s):
                scale(x, 2.0, 100, BLOCK=32, _sync=False)
            launched.append(number)

    thread = threading.Thread(target=launch)
    thread.start()
    wait_until(lambda: len(launched) == 2)
    time.sleep(0.05)
    assert launched == [0, 1]
    gate.open()
    thread.join()
    s.synchronize()
    assert x[0] == 16.0


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_a_bad_number_in_flight_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_MAX_IN_FLIGHT", text)
    message = f"^kernel `scale`: EAS_MAX_IN_FLIGHT is a number of launches from 1 on, not '{text}'$"
    with pytest.raises(eas.LaunchError, match=message):
        scale(ones(), 2.0, 100, BLOCK=32, _sync=False)


@pytest.mark.parametrize("sync", ["x", 0, 1, None, np.False_])
def test_sync_is_true_or_false(sync: Any) -> None:
    with pytest.raises(eas.LaunchError) as caught:
        scale(ones(), 2.0, 100, BLOCK=32, _sync=sync)
    assert str(caught.value) == f"kernel `scale`: `_sync` is True or False, not {sync!r}"


@on_each
def test_an_error_is_raised_once_with_the_place_of_the_call(backend: Backend) -> None:
    s = eas.Stream("cpu")
    with eas.stream(s):
        demand(ones() * 60, 100, BLOCK=32, _sync=False, _backend=backend)
        line = line_here() - 1
    with pytest.raises(eas.KernelError) as caught:
        s.synchronize()
    last = str(caught.value).splitlines()[-1]
    assert last == f"   = note: in the launch of `demand` at {__file__}:{line}"
    assert "assertion failed: too large" in str(caught.value)
    s.synchronize()
    eas.synchronize()


def test_the_place_of_a_launch_with_a_grid_is_that_of_its_call() -> None:
    demand[4](ones() * 60, 100, BLOCK=32, _sync=False)
    line = line_here() - 1
    with pytest.raises(eas.KernelError, match=f"in the launch of `demand` at {__file__}:{line}$"):
        eas.synchronize()


def test_an_access_out_of_bounds_is_an_error_of_the_launch() -> None:
    scale(ones(), 2.0, 200, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `scale` at "):
        eas.synchronize()


def test_a_launch_that_cannot_run_is_refused_at_once() -> None:
    x = ones()
    x.flags.writeable = False
    with pytest.raises(eas.LaunchError, match="argument `x`: the kernel writes to it, but"):
        scale(x, 2.0, 100, BLOCK=32, _sync=False)


def test_an_error_comes_with_a_synchronous_launch_on_the_same_memory() -> None:
    x, y = ones(), ones()
    spoil(x, 100, BLOCK=32, _sync=False)
    scale(y, 2.0, 100, BLOCK=32)
    with pytest.raises(eas.KernelError, match="assertion failed: spoiled"):
        scale(x, 2.0, 100, BLOCK=32)
    scale(x, 2.0, 100, BLOCK=32)


def test_an_error_of_a_launch_that_only_reads_comes_with_the_next_one_on_its_memory() -> None:
    x = ones() * 60
    demand(x, 100, BLOCK=32, _sync=False)
    wait_until(lambda: all(getattr(each, "is_done", False) for each in ACTIVE))
    with pytest.raises(eas.KernelError, match="assertion failed: too large"):
        scale(x, 2.0, 100, BLOCK=32)


def test_an_error_comes_with_what_was_computed_from_it() -> None:
    x = ones()
    spoil(x, 100, BLOCK=32, _sync=False)
    with eas.stream() as other:
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `spoil`"):
        other.synchronize()
    eas.synchronize()


def test_an_event_brings_the_errors_before_it() -> None:
    s = eas.Stream("cpu")
    with eas.stream(s):
        demand(ones() * 60, 100, BLOCK=32, _sync=False)
        event = s.record()
    with pytest.raises(eas.KernelError, match="too large"):
        event.synchronize()


def test_errors_of_several_launches_come_at_once() -> None:
    demand(ones() * 60, 100, BLOCK=32, _sync=False)
    spoil(ones(), 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="too large") as caught:
        eas.synchronize()
    (note,) = caught.value.__notes__
    assert "assertion failed: spoiled" in note
    assert "in the launch of `spoil` at " in note


def test_a_failed_launch_leaves_the_stream_usable() -> None:
    x, s = ones(), eas.Stream("cpu")
    with eas.stream(s):
        demand(ones() * 60, 100, BLOCK=32, _sync=False)
        for _ in range(3):
            scale(x, 2.0, 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError):
        s.synchronize()
    assert x[0] == 8.0


def test_arguments_live_until_the_launch_is_done(gate: Gate) -> None:
    class Memory(bytearray):
        """Other than its base it can be referred to weakly."""

    memory = Memory(400)
    alive = weakref.ref(memory)
    x = np.frombuffer(memory, np.float32)
    with eas.stream() as s:
        hold(s, gate)
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    del memory, x
    gc.collect()
    assert alive() is not None
    gate.open()
    s.synchronize()
    gc.collect()
    assert alive() is None


def test_an_empty_grid_puts_nothing_into_a_stream() -> None:
    with eas.stream() as s:
        scale(ones(0), 2.0, 0, BLOCK=32, _sync=False)
    assert repr(s) == in_flight(0)


def test_what_a_kernel_prints_comes_before_the_launch_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.metal.kernels import talk

    talk[1](ones(1), BLOCK=1, _sync=False)
    eas.synchronize()
    assert capsys.readouterr().out == "program 0\nvalue 1.0 of 0\n"


def test_a_stream_holds_for_its_block(gate: Gate) -> None:
    first, second = eas.Stream("cpu"), eas.Stream("cpu")
    with eas.stream(first) as outer:
        with eas.stream(second) as inner:
            assert (outer, inner) == (first, second)
            hold(second, gate)
            scale(ones(), 2.0, 100, BLOCK=32, _sync=False)
        assert [repr(second), repr(first)] == [in_flight(2), in_flight(0)]
        hold(first, gate)
        scale(ones(), 2.0, 100, BLOCK=32, _sync=False)
        assert [repr(second), repr(first)] == [in_flight(2), in_flight(2)]


def in_flight(count: int) -> str:
    return f"<stream of cpu, {count} launches in flight>"


@pytest.mark.parametrize("device", ["gpu", 3])
def test_a_stream_of_no_device_is_refused(device: Any) -> None:
    with pytest.raises(ValueError, match=f'^a device is "cpu" or "metal", not {device!r}$'):
        eas.Stream(device)


def test_waiting_for_what_is_no_event_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^a stream waits for an event, see `Stream.record`, not"):
        eas.Stream("cpu").wait(eas.Stream("cpu"))  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"^`eas.stream` takes an `eas.Stream`, not 'cpu'$"):
        eas.stream("cpu")  # pyright: ignore[reportArgumentType]


def test_the_thread_of_a_stream_ends_with_it() -> None:
    before = set(threading.enumerate())
    s = eas.Stream("cpu")
    s.record().synchronize()
    (thread,) = set(threading.enumerate()) - before
    del s
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_many_threads_launch_into_one_stream() -> None:
    x, s = np.zeros(64, np.int32), eas.Stream("cpu")

    def launch() -> None:
        for _ in range(50):
            with eas.stream(s):
                mix(other, other, x, 64, BLOCK=64, _sync=False)

    other = np.zeros(64, np.int32)
    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    s.synchronize()
    expected = 0
    for _ in range(200):
        expected = (expected * 3 + 1) % 251
    assert x.tolist() == [expected] * 64


def test_a_tensor_waits_for_the_last_writer_of_its_elements_only(gate: Gate) -> None:
    both = eas.ones(128)
    x, y = both[:64], both[64:]
    with eas.stream() as held:
        hold(held, gate)
        scale(y, 2.0, 64, BLOCK=64, _sync=False)
    with eas.stream():
        scale(x, 3.0, 64, BLOCK=64, _sync=False)
    assert x.tolist() == [3.0] * 64
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    assert y[3].item() == 2.0
    opener.join()


@pytest.mark.parametrize(
    "read",
    [
        lambda t: t.numpy(),
        np.asarray,
        lambda t: t.to("f64").numpy(),
        lambda t: np.array(t.tolist()),
        lambda t: t.reshape(4, 16).T.contiguous().numpy().T.reshape(64),
        lambda t: np.array([t[k].item() for k in range(64)]),
    ],
)
def test_reads_of_a_tensor_wait_for_its_writer(read: Any, gate: Gate) -> None:
    x = eas.ones(64)
    with eas.stream() as held:
        hold(held, gate)
        scale(x, 2.0, 64, BLOCK=64, _sync=False)
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    assert read(x).tolist() == [2.0] * 64
    opener.join()


def test_a_write_to_a_tensor_waits_for_its_readers(gate: Gate) -> None:
    x, out = eas.full(64, 1, dtype="i32"), eas.zeros(64, dtype="i32")
    with eas.stream() as held:
        hold(held, gate)
        mix(x, x, out, 64, BLOCK=64, _sync=False)
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    x.fill_(9)
    opener.join()
    assert (out[0].item(), x[0].item()) == (13, 9)


def test_an_error_comes_with_a_read_of_its_tensor() -> None:
    x = eas.ones(100)
    spoil(x, 100, BLOCK=32, _sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `spoil` at "):
        x.numpy()
    assert x.tolist() == [1.0] * 100


def test_a_launch_like_an_earlier_one_reports_the_same_error() -> None:
    x, messages = ones() * 60, list[str]()
    for _ in range(3):
        demand(x, 100, BLOCK=32, _sync=False)
        with pytest.raises(eas.KernelError) as caught:
            eas.synchronize()
        messages.append(str(caught.value))
    assert messages == [messages[0]] * 3


def test_a_launch_like_an_earlier_one_reads_arguments_at_the_call(gate: Gate) -> None:
    x, tensor = ones(), eas.ones(100)
    for each in (x, tensor):
        scale(each, 1.0, 100, BLOCK=32, _sync=False)
    eas.synchronize()
    with eas.stream() as s:
        hold(s, gate)
        for each, factor in ((x, 2.0), (tensor, 3.0), (x[::-1][::-1], 5.0), (tensor[:50], 7.0)):
            scale[4](each, factor, each.shape[0], BLOCK=32, _sync=False)
    assert x[0] == 1.0
    gate.open()
    s.synchronize()
    assert (x.tolist(), tensor.tolist()) == ([10.0] * 100, [21.0] * 50 + [3.0] * 50)


def test_tensors_of_torch_are_ordered() -> None:
    torch = pytest.importorskip("torch")
    arrays = [torch.full((64,), k, dtype=torch.int32) for k in range(4)]
    expected = [np.full(64, k) for k in range(4)]
    random = np.random.default_rng(7)
    for _ in range(100):
        x, y, out = random.choice(4, 3, replace=False)
        with eas.stream():
            mix(arrays[x], arrays[y], arrays[out], 64, BLOCK=64, _sync=False)
        expected[out] = (expected[out] * 3 + expected[x] * 5 + expected[y] * 7 + 1) % 251
    eas.synchronize()
    assert [each.tolist() for each in arrays] == [each.tolist() for each in expected]


def test_a_function_of_the_ir_waits_for_the_writers_of_its_memory(gate: Gate) -> None:
    function = eas.compile_function(relu.compile("*f32", "*f32", "i32", BLOCK=32).function)
    x, out = ones() * -1, ones()
    launch, n = eas.FunctionLauncher(function, (4,)), np.int32(100)
    for _ in range(2):  # the second one takes the fast path
        launch(x, out, n)
    with eas.stream() as s:
        hold(s, gate)
        scale(x, -2.0, 100, BLOCK=32, _sync=False)
    opener = threading.Timer(0.05, gate.open)
    opener.start()
    launch(x, out, n)
    opener.join()
    assert out.tolist() == [2.0] * 100
