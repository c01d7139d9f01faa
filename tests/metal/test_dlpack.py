"""DLPack with Metal: an `id<MTLBuffer>` and an offset go both ways."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime import metal
from eas.runtime.tensors import capsules
from eas.runtime.tensors.making import Mode
from tests.metal.simulated import Machine
from tests.tensors.test_dlpack import struct_of

in_both_modes = pytest.mark.parametrize("storage", ["shared", "private"])


@eas.kernel
def add_one(a, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(a, i, mk.load(a, i, i < N) + 1, i < N)


class Producer:
    """A library with tensors on Metal, as torch has them: it makes its buffers itself."""

    def __init__(self, values: list[float], storage: Mode = "shared", start: int = 0) -> None:
        self.device = metal.default_device()
        self.start, self.count = start, len(values) - start
        made = eas.tensor(values, dtype="f32", device="metal", storage=storage)
        self.buffer = metal.find_resident(self.device, made.__eas_array__())
        self.tensor = made

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.tensor.__dlpack__(**options)
        tensor = struct_of(capsule).tensor
        tensor.byte_offset, tensor.shape[0] = 4 * self.start, self.count
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return capsules.METAL, 0


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_buffer_of_another_library_is_used_where_it_is(storage: Mode) -> None:
    producer = Producer([1, 2, 3, 4, 5], storage, start=1)
    tensor = eas.from_dlpack(producer)
    assert (tensor.device, tensor.shape, tensor.tolist()) == ("metal", (4,), [2, 3, 4, 5])
    add_one(tensor, 4, BLOCK=32)
    assert producer.tensor.tolist() == [1, 3, 4, 5, 6]
    assert eas.tensor(producer, device="mps").fill_(0).device == "metal"
    assert producer.tensor.tolist() == [1, 0, 0, 0, 0]


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_kernel_takes_a_tensor_of_another_library(
    storage: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    producer = Producer([1, 2, 3], storage)
    for _ in range(2):
        add_one(producer, 3, BLOCK=32)
    assert producer.tensor.tolist() == [3, 4, 5]


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_tensor_goes_out_as_a_buffer_and_an_offset(storage: Mode) -> None:
    t = eas.arange(20, dtype="f16", device="metal").reshape(4, 5)
    t = eas.tensor(t, storage=storage)
    struct = struct_of(t[1:, ::2].__dlpack__(max_version=(1, 0))).tensor
    found = metal.find_resident(metal.default_device(), t.__eas_array__().reshape(-1))
    assert found is not None
    assert struct.data == metal.pointer_to(metal.default_device(), found.buffer)
    facts = (struct.device_type, struct.byte_offset, struct.shape[:2], struct.strides[:2])
    assert facts == (capsules.METAL, 10, [3, 3], [5, 2])
    assert t.__dlpack_device__() == (8, 0)


@in_both_modes
@pytest.mark.usefixtures("machine")
def test_a_round_trip_is_the_same_memory(storage: Mode) -> None:
    t = eas.zeros((3, 4), device="metal", storage=storage)
    back = eas.from_dlpack(t[1:])
    back.fill_(5)
    assert t.tolist() == [[0] * 4, [5] * 4, [5] * 4]

    @eas.kernel
    def copy_row(a, b):
        b[0, 0] = a[0, 0]

    with pytest.raises(eas.LaunchError, match="it shares memory with `a`"):
        copy_row(t, back, _grid=1)


@pytest.mark.usefixtures("machine")
def test_the_cpu_takes_shared_memory_and_a_copy_of_private_memory() -> None:
    shared, private = eas.ones(3, device="metal"), eas.ones(3, device="metal", storage="private")
    array = eas.from_dlpack(shared.__dlpack__(dl_device=(1, 0), copy=False, max_version=(1, 0)))
    assert (array.device, array.fill_(4).tolist()) == ("cpu", [4, 4, 4])
    assert shared.tolist() == [4, 4, 4]
    assert eas.from_dlpack(private.__dlpack__(dl_device=(1, 0))).tolist() == [1, 1, 1]
    with pytest.raises(BufferError, match="a tensor on metal is not in the memory of cpu"):
        private.__dlpack__(dl_device=(1, 0), copy=False)
    on_metal = eas.from_dlpack(eas.ones(3).__dlpack__(dl_device=(8, 0), max_version=(1, 0)))
    assert (on_metal.device, on_metal.tolist()) == ("metal", [1, 1, 1])
    with pytest.raises(BufferError, match="a tensor on cpu is not in the memory of metal"):
        eas.ones(3).__dlpack__(dl_device=(8, 0), copy=False)


@pytest.mark.usefixtures("machine")
def test_a_tensor_comes_to_a_device() -> None:
    producer = Producer([1, 2, 3])
    assert eas.from_dlpack(producer, device="cpu").device == "cpu"
    assert eas.from_dlpack(np.ones(2, np.float32), device="mps").tolist() == [1, 1]
    with pytest.raises(BufferError, match="a tensor on cpu would be a copy of this one on metal"):
        eas.from_dlpack(producer, device="cpu", copy=False)


@pytest.mark.usefixtures("machine")
def test_elements_outside_of_a_buffer_are_refused() -> None:
    capsule = eas.zeros(16, device="metal").__dlpack__(max_version=(1, 0))
    struct_of(capsule).tensor.shape[0] = 17
    with pytest.raises(BufferError, match="the elements are not inside of the 64 bytes"):
        eas.from_dlpack(capsule)


@pytest.mark.usefixtures("machine")
def test_no_buffer_at_all_is_refused() -> None:
    capsule = eas.zeros(16, device="metal").__dlpack__(max_version=(1, 0))
    struct_of(capsule).tensor.data = None
    with pytest.raises(BufferError, match="DLPack hands over no Metal buffer"):
        eas.from_dlpack(capsule)


def make_torch(version: str, monkeypatch: pytest.MonkeyPatch) -> type[Producer]:
    """A module that stands in for torch, with tensors on Metal."""

    class Tensor(Producer):
        def storage_offset(self) -> int:
            return self.start

    Tensor.__module__ = "torch"
    module = ModuleType("torch")
    vars(module).update(__version__=version)
    monkeypatch.setitem(sys.modules, "torch", module)
    return Tensor


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("version", ["2.9.1", "2.9.1+cpu", "2.8.0", "1.13"])
def test_an_old_torch_exchanges_no_offsets(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = make_torch(version, monkeypatch)
    assert eas.from_dlpack(tensor([1, 2, 3])).tolist() == [1, 2, 3]
    with pytest.raises(BufferError, match=r"torch up to 2\.9\.1 does not say where a view begins"):
        eas.from_dlpack(tensor([1, 2, 3], start=1))
    t = eas.arange(6, dtype="f32", device="metal")
    assert struct_of(t[:3].__dlpack__(max_version=(1, 0))).flags == 0
    handed = struct_of(t[3:].__dlpack__(max_version=(1, 0)))
    assert (handed.tensor.byte_offset, handed.flags) == (0, capsules.IS_COPIED)
    with pytest.raises(BufferError, match=r"torch up to 2\.9\.1 ignores where a view begins"):
        t[3:].__dlpack__(copy=False)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("version", ["2.10.0", "2.13.0+cpu", "3.0"])
def test_a_newer_torch_exchanges_offsets(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = make_torch(version, monkeypatch)
    assert eas.from_dlpack(tensor([1, 2, 3], start=1)).tolist() == [2, 3]
    t = eas.arange(6, dtype="f32", device="metal")
    assert struct_of(t[3:].__dlpack__(max_version=(1, 0))).tensor.byte_offset == 12


@in_both_modes
def test_buffers_are_freed_after_many_exchanges(machine: Machine, storage: Mode) -> None:
    for number in range(200):
        producer: Any = Producer([1, 2, 3], storage)
        tensor: Any = eas.from_dlpack(producer)
        unused: Any = tensor.__dlpack__(max_version=(1, 0) if number % 2 else None)
        if number % 2:
            del producer, unused, tensor
        else:
            del tensor, unused, producer
    gc.collect()
    assert eas.memory.stats("metal").in_use == 0
    eas.memory.empty_cache("metal")
    assert machine.alive["MTLBuffer"] == 0
    assert metal.default_device().residency.find(1 << 60, 1) is None


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac may have a GPU")
def test_without_a_gpu_a_buffer_is_refused() -> None:
    capsule = eas.zeros(3).__dlpack__(max_version=(1, 0))
    struct_of(capsule).tensor.device_type = capsules.METAL
    with pytest.raises(BufferError, match="a tensor on Metal cannot be read here: Metal needs"):
        eas.from_dlpack(capsule)
