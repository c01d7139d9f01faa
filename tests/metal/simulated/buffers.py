"""Memory that the CPU and the GPU share."""

from __future__ import annotations

import numpy as np

from eas.msl.arrays import Array
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, require, selector


class VariableList:
    """`objc.varlist`: it does not know its length, and does not keep the buffer alive."""

    def __init__(self, memory: Array) -> None:
        self.memory = memory

    def as_buffer(self, count: int) -> memoryview:
        require(count <= self.memory.size, f"{count} bytes of a buffer of {self.memory.size}")
        return self.memory.data[:count]


class MTLBuffer(Object):
    """Bytes; new ones have no value that one could rely on."""

    def __init__(self, machine: Machine, length: int) -> None:
        super().__init__(machine)
        self.memory = np.full(length, 0xA5, np.uint8)
        machine.buffers.append(length)

    @selector
    def length(self) -> int:
        return self.memory.size

    @selector
    def contents(self) -> VariableList:
        return VariableList(self.memory)
