"""A user of Metal who knows what to do, and whom tests have make one mistake."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from tests.metal.simulated import FailedAssertion
from tests.metal.simulated.objects import constant

ADD_ONE = """\
#include <metal_stdlib>
using namespace metal;

kernel void add_one(device float* x [[buffer(0)]],
                    constant int& n [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    if (int(i) < n) { x[i] += 1.0f; }
}
"""


class Session:
    """A GPU, a kernel that is ready, and commands that run."""

    def __init__(self) -> None:
        self.metal: Any = sys.modules["Metal"]
        self.pool: Any = vars(sys.modules["objc"])["autorelease_pool"]()
        self.pool.__enter__()
        self.device = self.metal.MTLCreateSystemDefaultDevice()
        self.queue = self.own(self.device.newCommandQueue())
        self.state = self.pipeline(ADD_ONE, "add_one")
        self.x = self.buffer(np.zeros(4, np.float32))
        self.commands = self.queue.commandBuffer()
        self.encoder = self.commands.computeCommandEncoder()

    def close(self) -> None:
        if self.encoder.is_open:
            self.encoder.endEncoding()
        self.pool.__exit__(None, None, None)

    def own(self, made: Any) -> Any:
        made.release()
        return made

    def library(self, text: str, version: str = "MTLLanguageVersion2_3") -> tuple[Any, Any]:
        options = self.metal.MTLCompileOptions.alloc().init()
        options.setLanguageVersion_(constant(version))
        library, error = self.device.newLibraryWithSource_options_error_(text, options, None)
        return (None if library is None else self.own(library)), error

    def pipeline(self, text: str, name: str) -> Any:
        library, error = self.library(text)
        assert error is None, error.localizedDescription()
        function = self.own(library.newFunctionWithName_(name))
        state, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
        return self.own(state) if error is None else error.localizedDescription()

    def buffer(self, array: Any) -> Any:
        data = array.tobytes()
        return self.own(self.device.newBufferWithBytes_length_options_(data, len(data), 0))

    def set_all(self) -> None:
        self.encoder.setComputePipelineState_(self.state)
        self.encoder.setBuffer_offset_atIndex_(self.x, 0, 0)
        self.encoder.setBytes_length_atIndex_(np.int32(3).tobytes(), 4, 1)

    def dispatch(self, groups: Any = (1, 1, 1), threads: Any = (4, 1, 1)) -> None:
        self.encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, threads)

    def commit(self) -> None:
        self.encoder.endEncoding()
        self.commands.commit()

    def finish(self) -> None:
        self.commit()
        self.commands.waitUntilCompleted()

    def result(self) -> list[float]:
        return np.frombuffer(self.x.contents().as_buffer(16), np.float32).tolist()


def refused(message: str) -> Any:
    return pytest.raises(FailedAssertion, match=f"^{message}")
