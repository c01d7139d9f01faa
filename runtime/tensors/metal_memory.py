"""Memory of a Mac's GPU for tensors: buffers, shared with the CPU or private to the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eas.runtime import metal
from eas.runtime.tensors.pool import Pool
from eas.runtime.tensors.storage import Array, Storage, address_of, bounds

Mode = Literal["shared", "private"]
MODES: tuple[Mode, ...] = ("shared", "private")


class Chunk:
    """A buffer of its own, and the address of its memory."""

    __slots__ = ("_pointer", "_residency", "address", "buffer", "nbytes")

    def __init__(self, device: metal.Device, buffer: Any, nbytes: int, mode: Mode) -> None:
        self._residency = device.residency
        self.buffer = buffer
        self.nbytes = nbytes
        self._pointer = metal.pointer_to(device, buffer)
        address = metal.contents_of(buffer, nbytes) if mode == "shared" else None
        self.address = self._residency.add(buffer, self._pointer, nbytes, address)

    def __del__(self) -> None:
        self._residency.remove(self._pointer)


class MetalSource:
    """Makes buffers of one storage mode.

    Each tensor has a buffer of its own: Metal orders commands by the buffers that they use, and
    torch up to 2.9.1 takes tensors only from the beginning of a buffer.
    """

    cuts_slabs = False

    def __init__(self, device: metal.Device, mode: Mode) -> None:
        self._device = device
        self._mode: Mode = mode

    def allocate(self, nbytes: int) -> Chunk | None:
        """A buffer; None if the GPU has no memory for it."""
        try:
            with self._device.framework.objc.autorelease_pool():
                buffer = self._device.memory(nbytes, "a tensor", is_private=self._mode == "private")
        except metal.MetalError:
            return None
        return Chunk(self._device, buffer, nbytes, self._mode)


class MetalStorage(Storage):
    """Memory in a buffer. `mode` says whether the CPU can reach it."""

    __slots__ = ("_machine", "mode")

    device = "metal"

    def __init__(
        self,
        machine: metal.Device,
        address: int,
        nbytes: int,
        owner: object,
        mode: Mode,
        *,
        is_writeable: bool = True,
    ) -> None:
        super().__init__(address, nbytes, owner, is_writeable=is_writeable)
        self._machine = machine
        self.mode: Mode = mode

    def resident(self, address: int, nbytes: int) -> metal.Resident:
        """The buffer that has some of its bytes, and where."""
        found = self._machine.residency.find(address, max(nbytes, 1))
        assert found is not None
        return found

    def wait_for(self, array: Array, *, is_written: bool = False) -> None:
        self._machine.check_process()
        super().wait_for(array, is_written=is_written)

    def to_host(self, array: Array) -> Array:
        if self.mode == "shared":
            return super().to_host(array)
        self.wait_for(array)
        return self._stage(array)[1]

    def update(self, array: Array, change: Callable[[Array], None]) -> None:
        if self.mode == "shared":
            super().update(array, change)
            return
        self.wait_for(array, is_written=True)
        stage, staged = self._stage(array)
        change(staged)
        if stage.nbytes:
            source = stage.resident(stage.address, stage.nbytes)
            target = self.resident(_word_bounds(array)[0], stage.nbytes)
            metal.copy(self._machine, source, target)

    def _stage(self, array: Array) -> tuple[MetalStorage, Array]:
        """A copy of a view in shared memory, with the same strides, and that memory."""
        low, high = _word_bounds(array)
        stage = allocate(high - low, "shared")
        if high > low:
            target = stage.resident(stage.address, high - low)
            metal.copy(self._machine, self.resident(low, high - low), target)
        first = address_of(array) - low
        staged: Array = np.ndarray(
            array.shape, array.dtype, np.asarray(stage), first, array.strides
        )
        return stage, staged


def _word_bounds(array: Array) -> tuple[int, int]:
    """The bytes of a view from the first to behind the last, in whole words, as Metal copies."""
    low, high = bounds(array)
    if low == high:
        return low, low
    return low // metal.WORD * metal.WORD, -(-high // metal.WORD) * metal.WORD


def pool() -> Pool:
    """The memory of the GPU that launches use."""
    device = metal.default_device()
    if device.pool is None:
        device.pool = Pool("metal", {mode: MetalSource(device, mode) for mode in MODES})
    found: Pool = device.pool
    return found


def allocate(nbytes: int, mode: Mode) -> MetalStorage:
    """New memory of the GPU; its content is undefined."""
    if mode not in MODES:
        raise ValueError(f"`storage` is 'shared' or 'private', not {mode!r}")
    lease = pool().take(nbytes, mode)
    return MetalStorage(metal.default_device(), lease.address, nbytes, lease, mode)
