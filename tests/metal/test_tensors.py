"""Tensors on Metal: buffers that stay on the GPU, shared with the CPU or private."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime import metal
from eas.runtime.tensors.making import Mode
from tests.metal.simulated import Machine

in_both_modes = pytest.mark.parametrize("storage", ["shared", "private"])


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)


@eas.kernel
def count(x, N, BLOCK: eas.constexpr):
    for row in range(N):
        print("row", row, mk.sum(mk.load(x, mk.arange(0, BLOCK))))
    mk.store(x, mk.arange(0, BLOCK), mk.load(x, mk.arange(0, BLOCK)) + 1)


@eas.kernel
def shift(a, b, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    for row in range(a.shape[0]):
        if i < a.shape[1]:
            b[row, i] = a[row, i] + 1


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_launch_runs_where_its_tensors_are(
    storage: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_BACKEND", "cpu")  # is for tensors of the CPU
    a = eas.tensor(np.arange(100, dtype=np.float32), device="mps", storage=storage)
    b, c = eas.ones(100, device="metal", storage=storage), eas.zeros_like(a)
    for _ in range(2):
        add(a, b, c, 100, BLOCK=64)
        assert c.tolist() == [n + 1.0 for n in range(100)]
    assert (a.device, c.device) == ("metal", "metal")


@in_both_modes
def test_a_launch_copies_no_tensor(
    machine: Machine, storage: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = eas.ones(100, device="metal", storage=storage)
    c = eas.zeros(100, device="metal", storage=storage)
    made = machine.alive["MTLBuffer"]
    asked: list[int] = []
    plain = metal.Device.memory

    def noted(self: metal.Device, size: int, *others: Any, **options: Any) -> Any:
        asked.append(size)
        return plain(self, size, *others, **options)

    monkeypatch.setattr(metal.Device, "memory", noted)
    add(a, a, c, 100, BLOCK=64)
    assert asked == []
    assert machine.alive["MTLBuffer"] == made
    monkeypatch.undo()
    assert c.tolist() == [2.0] * 100


@in_both_modes
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8", "u16", "i64"])
def test_views_of_every_alignment_are_read_and_written(dtype: str, storage: Mode) -> None:
    array = np.arange(60).reshape(6, 10)
    for index in (np.s_[1::2, 3:], np.s_[::-1, ::-3], np.s_[2:3, 1:2], np.s_[5:, 9:]):
        t = eas.tensor(array, dtype=dtype, device="metal", storage=storage)
        expected = array.copy()
        view = t[index]
        assert view.tolist() == expected[index].tolist()
        view.fill_(7)
        view.T[0].copy_([9] * view.shape[0])
        expected[index] = 7
        expected[index].T[0] = 9
        assert t.tolist() == expected.tolist()


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_launch_takes_strided_views(storage: Mode) -> None:
    a = eas.tensor(np.arange(60, dtype=np.float32).reshape(6, 10), device="mps", storage=storage)
    b = eas.zeros((10, 6), device="metal", storage=storage)
    shift(a[::-2, 1::3], b[:3, :3], BLOCK=32, _grid=1)
    assert b[:3, :3].tolist() == (a.numpy()[::-2, 1::3] + 1).tolist()
    shift(a.T, b, BLOCK=32, _grid=1)
    assert b.tolist() == (a.numpy().T + 1).tolist()


@pytest.mark.usefixtures("machine")
def test_numpy_sees_shared_memory_and_a_copy_of_private_memory() -> None:
    modes: list[tuple[Mode, bool]] = [("shared", True), ("private", False)]
    for storage, is_view in modes:
        t = eas.zeros(4, device="metal", storage=storage)
        t.numpy()[1] = 5
        assert (t[1].item() == 5) == is_view


@pytest.mark.usefixtures("machine")
def test_an_array_of_shared_memory_is_used_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    t = eas.ones(100, device="metal")
    array = t.numpy()
    del t  # the array keeps the buffer
    monkeypatch.setattr(metal.Device, "memory", None)
    add(array, array, array, 100, BLOCK=64)
    assert array.tolist() == [2.0] * 100


@pytest.mark.usefixtures("machine")
def test_a_tensor_goes_from_device_to_device() -> None:
    a = eas.arange(10)
    b = a.to("metal")
    assert (b.device, b.tolist()) == ("metal", list(range(10)))
    assert b.to("mps") is b
    assert b.to("cpu").device == "cpu"
    assert b.to("f16").device == "metal"
    c = eas.zeros(10, dtype="i32", device="metal", storage="private").copy_(b)
    assert c.to("cpu").fill_(1).tolist() == [1] * 10
    assert c.tolist() == list(range(10))
    with pytest.raises(ValueError, match="on metal would be a copy of this one of i32 on cpu"):
        eas.tensor(a, device="metal", copy=False)


@pytest.mark.usefixtures("machine")
def test_tensors_of_two_devices_are_refused() -> None:
    a, b = eas.zeros(4, device="metal"), eas.zeros(4)
    with pytest.raises(eas.LaunchError) as caught:
        add(b, a, a, 4, BLOCK=64)
    assert str(caught.value) == (
        "kernel `add`, argument `a`: it is on cpu, and `b` is on metal: a launch takes tensors of "
        'one device, for example `a.to("metal")`'
    )


@pytest.mark.usefixtures("machine")
def test_a_launch_elsewhere_is_refused() -> None:
    a = eas.zeros(4, device="metal")
    with pytest.raises(eas.LaunchError) as caught:
        add(a, a, a, 4, BLOCK=64, _backend="interpret")
    assert str(caught.value) == (
        'kernel `add`, argument `a`: it is on metal, and `_backend="interpret"` does not run '
        'there: leave that out, or pass `a.to("cpu")`'
    )
    add(a, a, a, 4, BLOCK=64, _backend="mps")


@pytest.mark.usefixtures("machine")
def test_arrays_and_tensors_of_the_cpu_are_copied_in_and_out() -> None:
    a, b, c = eas.ones(100), np.ones(100, np.float32), eas.zeros(100)
    add(a, b, c, 100, BLOCK=64)  # the backend is metal
    assert c.tolist() == [2.0] * 100
    d = eas.zeros(100, device="metal")
    add(d, b, d, 100, BLOCK=64)
    assert d.tolist() == [1.0] * 100


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_kernel_that_runs_again_for_its_prints_finds_what_it_found_first(
    storage: Mode, capsys: pytest.CaptureFixture[str]
) -> None:
    t = eas.zeros(64, device="metal", storage=storage)
    count(t, 2000, BLOCK=64, _grid=1)
    assert t.tolist() == [1.0] * 64
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"row {n} 0.0" for n in range(2000)]


@pytest.mark.usefixtures("machine")
def test_an_access_outside_of_a_view_is_reported() -> None:
    a, c = eas.zeros(100, device="metal"), eas.zeros(100, device="metal")
    with pytest.raises(eas.KernelError) as caught:
        add(a[:50], a[:50], c, 100, BLOCK=64, _checked=True)
    assert "`a` is read out of bounds, at offset 50" in str(caught.value)


@pytest.mark.usefixtures("machine")
def test_metal_has_no_f64() -> None:
    for make in (
        lambda: eas.zeros(3, dtype="f64", device="metal"),
        lambda: eas.zeros(3, dtype="f64").to("mps"),
    ):
        with pytest.raises(TypeError, match="Metal has no f64"):
            make()


@pytest.mark.usefixtures("machine")
def test_a_wrong_storage_is_refused() -> None:
    with pytest.raises(ValueError, match="`storage` is 'shared' or 'private', not 'managed'"):
        eas.zeros(3, device="metal", storage="managed")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the memory of the CPU is shared"):
        eas.zeros(3, storage="private")


def test_buffers_come_back_to_the_pool(machine: Machine) -> None:
    t = eas.zeros(1000, device="metal")
    made = machine.alive["MTLBuffer"]
    for _ in range(10):
        t = eas.zeros(1000, device="metal")
    assert machine.alive["MTLBuffer"] == made + 1
    assert eas.memory.stats("metal").in_use == 4096
    del t
    eas.memory.empty_cache("mps")
    assert machine.alive["MTLBuffer"] == 0


def test_a_limit_holds_on_metal(machine: Machine) -> None:
    eas.memory.limit(10_000, "metal")
    with pytest.raises(eas.OutOfMemoryError, match="40000 bytes for a tensor on metal are over"):
        eas.zeros(10_000, device="metal")
    eas.memory.limit(None, "metal")
    machine.faults.is_out_of_memory = True
    with pytest.raises(eas.OutOfMemoryError, match="metal has no memory for the 40000 bytes"):
        eas.zeros(10_000, device="metal")


@pytest.mark.usefixtures("machine")
def test_a_forked_process_refuses_to_read_tensors_on_metal() -> None:
    t = eas.ones(3, device="metal")
    child = os.fork()
    if child == 0:
        try:
            t.tolist()
        except metal.MetalError as error:
            os._exit(0 if "does not survive a fork" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert t.tolist() == [1, 1, 1]


@pytest.mark.parametrize("storage", ["shared", "private"])
def test_a_copy_that_fails_is_reported(machine: Machine, storage: Mode) -> None:
    t = eas.ones(3, device="metal", storage=storage)
    machine.faults.takes_no_commands = True
    if storage == "shared":
        assert t.tolist() == [1, 1, 1]  # the CPU reads by itself
    else:
        with pytest.raises(metal.MetalError, match="takes no commands for a copy"):
            t.tolist()


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac may have a GPU")
def test_without_a_gpu_a_tensor_on_metal_is_refused() -> None:
    with pytest.raises(metal.MetalError, match="Metal needs a Mac, and this is"):
        eas.zeros(3, device="metal")
