"""A kernel that is ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from tests.metal.simulated.layout import layout_of
from tests.metal.simulated.libraries import MTLFunction
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, selector

# https://developer.apple.com/metal/Metal-Feature-Set-Tables.pdf, for the family Mac2
CONSTANT_ALIGNMENT = 32


@dataclass(frozen=True)
class Argument:
    """What a kernel expects at the index of a buffer: so many bytes, at such a multiple."""

    name: str
    index: int
    size: int
    alignment: int
    is_constant: bool
    is_written: bool


class MTLComputePipelineState(Object):
    """The kernel, and the limits that the GPU has for it."""

    def __init__(self, machine: Machine, function: MTLFunction) -> None:
        super().__init__(machine)
        self.kernel = function.signature
        self.built = function.library.built
        self.arguments = _arguments(function)
        self.shared = {
            parameter.index: parameter.name
            for parameter in self.kernel.parameters
            if parameter.attribute.startswith("threadgroup(")
        }

    @selector
    def maxTotalThreadsPerThreadgroup(self) -> int:
        return self.machine.most_threads

    @selector
    def threadExecutionWidth(self) -> int:
        return self.machine.simdgroup_threads


def _arguments(function: MTLFunction) -> list[Argument]:
    found: list[Argument] = []
    for parameter in function.signature.parameters:
        if parameter.attribute.startswith("buffer("):
            size, alignment = layout_of(parameter.type, function.library.text)
            words = parameter.type.split()
            is_constant = "constant" in words
            is_written = not is_constant and "const" not in words
            found.append(
                Argument(parameter.name, parameter.index, size, alignment, is_constant, is_written)
            )
    return found
