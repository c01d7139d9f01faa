"""Memory of the GPU, which the CPU may share."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from eas.msl.arrays import Array
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, constant, require, selector

MODE_BITS = 0xF0  # of the options
SHARED = constant("MTLResourceStorageModeShared")
MANAGED = constant("MTLResourceStorageModeManaged")
PRIVATE = constant("MTLResourceStorageModePrivate")

# What the CPU finds in new memory, in memory that the GPU is at work on, and in freed memory.
NEW, LENT, FREED = 0xA5, 0xB6, 0xDD


class VariableList:
    """`objc.varlist`: it does not know its length, and does not keep the buffer alive."""

    def __init__(self, memory: Array) -> None:
        self.memory = memory

    def as_buffer(self, count: int) -> memoryview:
        require(count <= self.memory.size, f"{count} bytes of a buffer of {self.memory.size}")
        return self.memory.data[:count]


class MTLBuffer(Object):
    """Bytes: `memory` is what the CPU sees of them, `inside` what the GPU sees.

    Of shared memory there is one copy. While commands that write it run, the CPU finds nothing in
    it. While commands use it at all, what the CPU writes is lost for them. Managed memory has two
    copies, and nothing here makes them alike.
    """

    def __init__(self, machine: Machine, memory: Array, options: int) -> None:
        super().__init__(machine)
        self.mode = options & MODE_BITS
        self.memory = memory
        self.inside = memory if self.mode == SHARED else memory.copy()
        self._uses = self._writes = 0
        self._lock = threading.Lock()

    @selector
    def length(self) -> int:
        return self.memory.size

    @selector
    def storageMode(self) -> int:
        return self.mode >> 4

    @selector
    def contents(self) -> VariableList:
        require(self.mode != PRIVATE, "the CPU cannot reach private memory")
        return VariableList(self.memory)

    def lend(self, is_written: bool) -> None:
        """Commands that use it are committed."""
        with self._lock:
            self._uses += 1
            self._writes += is_written
            if self._uses == 1 and self.mode == SHARED:
                self.inside = self.memory.copy()
            if self._writes == 1 and is_written and self.mode == SHARED:
                self.memory[:] = LENT

    def give_back(self, is_written: bool) -> None:
        """Commands that use it are done."""
        with self._lock:
            self._uses -= 1
            self._writes -= is_written
            if self._writes == 0 and is_written and self.mode == SHARED:
                self.memory[:] = self.inside
            if self._uses == 0 and self.mode == SHARED:
                self.inside = self.memory


def new_buffer(machine: Machine, length: int, options: int) -> MTLBuffer | None:
    """Memory of Metal's own: it is gone with the buffer."""
    if not require_length(machine, length, options):
        return None
    memory = np.full(length, NEW, np.uint8)
    buffer = MTLBuffer(machine, memory, options)
    weakref.finalize(buffer, memory.fill, FREED).atexit = False
    return buffer


def require_length(machine: Machine, length: int, options: int) -> bool:
    """Whether there is memory of that length."""
    require(options & MODE_BITS in (SHARED, MANAGED, PRIVATE), f"{options:#x} is no memory")
    require(length <= machine.most_buffer_bytes, "a buffer longer than maxBufferLength")
    return length > 0 and not machine.faults.is_out_of_memory
