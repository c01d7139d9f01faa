"""Blit encoders: they copy between buffers, also those that the CPU cannot reach."""

from __future__ import annotations

from dataclasses import dataclass

from tests.metal.simulated.buffers import MTLBuffer
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, require, selector

MULTIPLE = 4  # of offsets and sizes on a Mac: https://developer.apple.com/documentation/metal


@dataclass(frozen=True)
class Copy:
    """Bytes that go from one buffer to another; it keeps both alive."""

    source: MTLBuffer
    source_offset: int
    target: MTLBuffer
    target_offset: int
    size: int

    @property
    def buffers(self) -> dict[MTLBuffer, bool]:
        """What it uses, and whether it writes to it."""
        return {self.source: self.source is self.target, self.target: True}

    def run(self) -> None:
        data = self.source.inside[self.source_offset : self.source_offset + self.size]
        self.target.inside[self.target_offset : self.target_offset + self.size] = data


class MTLBlitCommandEncoder(Object):
    """Copies, until the encoding ends."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.is_open = True
        self.commands: list[Copy] = []

    def buffers(self) -> dict[object, bool]:
        """What its copies use, and whether they write to it."""
        found: dict[object, bool] = {}
        for command in self.commands:
            for buffer, is_written in command.buffers.items():
                found[buffer] = found.get(buffer, False) or is_written
        return found

    def __del__(self) -> None:
        if self.is_open:
            self.machine.troubles.append("an encoder is freed before the encoding has ended")

    @selector
    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: MTLBuffer, offset: int, target: MTLBuffer, target_offset: int, size: int
    ) -> None:
        require(self.is_open, "an encoder that has ended")
        require(size > 0, "a copy of nothing")
        for number in (offset, target_offset, size):
            require(number % MULTIPLE == 0, f"{number} is no multiple of {MULTIPLE} bytes")
        for buffer, start in ((source, offset), (target, target_offset)):
            end, length = start + size, buffer.memory.size
            require(end <= length, f"bytes {start} to {end} of a buffer of {length}")
        require(source is not target or abs(offset - target_offset) >= size, "copies overlap")
        self.commands.append(Copy(source, offset, target, target_offset, size))

    @selector
    def endEncoding(self) -> None:
        require(self.is_open, "an encoding that ends twice")
        self.is_open = False
