"""A kernel that is ready to run."""

from __future__ import annotations

from tests.metal.simulated.libraries import MTLFunction
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, selector


class MTLComputePipelineState(Object):
    """The kernel, and the limits that the GPU has for it."""

    def __init__(self, machine: Machine, function: MTLFunction) -> None:
        super().__init__(machine)
        self.kernel = function.signature
        self.built = function.library.built

    @selector
    def maxTotalThreadsPerThreadgroup(self) -> int:
        return self.machine.most_threads

    @selector
    def threadExecutionWidth(self) -> int:
        return 32
