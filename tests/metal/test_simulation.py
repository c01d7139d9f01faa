"""The simulated Metal refuses what Metal refuses."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from tests.metal.simulated import FailedAssertion, Machine
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
    """A GPU, a kernel that is ready, and commands under way."""

    def __init__(self) -> None:
        self.metal: Any = sys.modules["Metal"]
        self.pool: Any = vars(sys.modules["objc"])["autorelease_pool"]()
        self.pool.__enter__()
        self.device = self.metal.MTLCreateSystemDefaultDevice()
        self.queue = self._own(self.device.newCommandQueue())
        self.state = self.pipeline(ADD_ONE, "add_one")
        self.x = self.buffer(np.zeros(4, np.float32))
        self.commands = self.queue.commandBuffer()
        self.encoder = self.commands.computeCommandEncoder()

    def close(self) -> None:
        self.pool.__exit__(None, None, None)

    def _own(self, made: Any) -> Any:
        made.release()
        return made

    def library(self, text: str, version: str = "MTLLanguageVersion2_3") -> tuple[Any, Any]:
        options = self.metal.MTLCompileOptions.alloc().init()
        options.setLanguageVersion_(constant(version))
        library, error = self.device.newLibraryWithSource_options_error_(text, options, None)
        return (None if library is None else self._own(library)), error

    def pipeline(self, text: str, name: str) -> Any:
        library, error = self.library(text)
        assert error is None, error.localizedDescription()
        function = self._own(library.newFunctionWithName_(name))
        state, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
        return self._own(state) if error is None else error.localizedDescription()

    def buffer(self, array: Any) -> Any:
        data = array.tobytes()
        return self._own(self.device.newBufferWithBytes_length_options_(data, len(data), 0))

    def set_all(self) -> None:
        self.encoder.setComputePipelineState_(self.state)
        self.encoder.setBuffer_offset_atIndex_(self.x, 0, 0)
        self.encoder.setBytes_length_atIndex_(np.int32(3).tobytes(), 4, 1)

    def dispatch(self, groups: int = 1, threads: int = 4) -> None:
        size = self.metal.MTLSizeMake
        groups_, threads_ = size(groups, 1, 1), size(threads, 1, 1)
        self.encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups_, threads_)


@pytest.fixture
def session(machine: Machine) -> Any:
    del machine
    session = Session()
    yield session
    session.close()


def refused(message: str) -> Any:
    return pytest.raises(FailedAssertion, match=f"^{message}")


def test_what_is_right_runs(session: Session) -> None:
    session.set_all()
    session.dispatch()
    session.encoder.endEncoding()
    seen: list[int] = []
    session.commands.addCompletedHandler_(lambda done: seen.append(done.status()))
    session.commands.commit()
    session.commands.waitUntilCompleted()
    assert session.commands.status() == constant("MTLCommandBufferStatusCompleted")
    assert seen == [constant("MTLCommandBufferStatusCompleted")]
    result = np.frombuffer(session.x.contents().as_buffer(16), np.float32)
    assert result.tolist() == [1, 1, 1, 0]


def test_an_argument_that_is_not_bound(session: Session) -> None:
    session.encoder.setComputePipelineState_(session.state)
    session.encoder.setBuffer_offset_atIndex_(session.x, 0, 0)
    with refused("nothing is bound for `n`"):
        session.dispatch()


@pytest.mark.parametrize("index", [-1, 31])
def test_an_index_that_metal_does_not_have(session: Session, index: int) -> None:
    with refused(f"the buffer index {index} is not 0 to 30"):
        session.encoder.setBuffer_offset_atIndex_(session.x, 0, index)


def test_an_offset_behind_the_end(session: Session) -> None:
    with refused("offset 16 in 16 bytes"):
        session.encoder.setBuffer_offset_atIndex_(session.x, 16, 0)


def test_an_offset_between_elements(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.x, 2, 0)
    with refused("`x` starts at byte 2, not at a multiple of 4"):
        session.dispatch()


def test_bytes_for_an_array_that_is_written(session: Session) -> None:
    session.set_all()
    session.encoder.setBytes_length_atIndex_(bytes(16), 16, 0)
    with refused("`x` is written by the kernel"):
        session.dispatch()


def test_a_scalar_of_too_few_bytes(session: Session) -> None:
    session.set_all()
    session.encoder.setBytes_length_atIndex_(bytes(2), 2, 1)
    with refused("`n` has 2 bytes"):
        session.dispatch()


def test_more_bytes_than_a_command_carries(session: Session) -> None:
    with refused("setBytes with 4097 bytes"):
        session.encoder.setBytes_length_atIndex_(bytes(4097), 4097, 1)


@pytest.mark.parametrize("threads", [0, 1025])
def test_a_number_of_threads_that_no_gpu_has(session: Session, threads: int) -> None:
    session.set_all()
    with refused(f"{threads} threads per threadgroup"):
        session.dispatch(threads=threads)


def test_a_dispatch_of_no_groups(session: Session) -> None:
    session.set_all()
    with refused("a dispatch of nothing"):
        session.dispatch(groups=0)


def test_a_dispatch_without_a_pipeline(session: Session) -> None:
    with refused("a dispatch without a pipeline"):
        session.dispatch()


def test_use_of_an_encoder_that_has_ended(session: Session) -> None:
    session.set_all()
    session.encoder.endEncoding()
    with refused("an encoder that has ended"):
        session.dispatch()
    with refused("an encoder that has ended"):
        session.encoder.setBuffer_offset_atIndex_(session.x, 0, 0)
    with refused("an encoding that ends twice"):
        session.encoder.endEncoding()


def test_a_commit_before_the_encoding_ends(session: Session) -> None:
    with refused("a commit with an open encoder"):
        session.commands.commit()


def test_two_encoders_at_once(session: Session) -> None:
    with refused("a second encoder before the first has ended"):
        session.commands.computeCommandEncoder()


def test_anything_after_the_commit(session: Session) -> None:
    session.encoder.endEncoding()
    session.commands.commit()
    session.commands.waitUntilCompleted()
    with refused("a second commit"):
        session.commands.commit()
    with refused("an encoder after the commit"):
        session.commands.computeCommandEncoder()
    with refused("a handler after the commit"):
        session.commands.addCompletedHandler_(print)


def test_a_wait_before_the_commit(session: Session) -> None:
    with refused("a wait before the commit never ends"):
        session.commands.waitUntilCompleted()


def test_a_buffer_that_is_too_long(machine: Machine, session: Session) -> None:
    with refused("a buffer longer than maxBufferLength"):
        session.device.newBufferWithLength_options_(machine.most_buffer_bytes + 1, 0)


def test_a_buffer_without_bytes_is_none(session: Session) -> None:
    assert session.device.newBufferWithLength_options_(0, 0) is None


def test_a_buffer_that_the_cpu_cannot_reach(session: Session) -> None:
    with refused("the CPU cannot reach a buffer that is not shared"):
        session.device.newBufferWithLength_options_(16, 32)


def test_more_bytes_than_a_buffer_has(session: Session) -> None:
    with refused("17 bytes of a buffer of 16"):
        session.x.contents().as_buffer(17)


def test_an_object_that_is_released_twice(session: Session) -> None:
    buffer = session.buffer(np.zeros(1, np.float32))
    with refused("MTLBuffer is released once too often"):
        buffer.release()
    with refused(r"-\[MTLBuffer length\]: the object is freed"):
        buffer.length()


def test_a_wrong_number_of_arguments(session: Session) -> None:
    with pytest.raises(TypeError, match=r"^Need 1 arguments, got 2$"):
        session.device.supportsFamily_(1, 2)


def test_a_text_that_is_no_metal(session: Session) -> None:
    library, error = session.library(ADD_ONE.replace("x[i] +=", "y[i] +="))
    assert library is None
    assert error.domain() == "MTLLibraryErrorDomain"
    assert error.code() == constant("MTLLibraryErrorCompileFailure")
    assert error.localizedDescription().startswith("program_source:7:")


def test_a_text_that_breaks_a_rule_of_metal_only(session: Session) -> None:
    text = ADD_ONE.replace("uint i [[thread", "int i [[thread")
    assert session.library(text)[0] is None


@pytest.mark.parametrize(
    ("word", "too_old", "enough"),
    [
        ("bfloat", "MTLLanguageVersion3_0", "MTLLanguageVersion3_1"),
        ("atomic_float", "MTLLanguageVersion2_3", "MTLLanguageVersion3_0"),
    ],
)
def test_a_type_that_is_too_new(session: Session, word: str, too_old: str, enough: str) -> None:
    text = ADD_ONE.replace("constant int& n", f"device {word}* y [[buffer(2)]], constant int& n")
    library, error = session.library(text, too_old)
    assert library is None
    line = text.splitlines()[4]
    assert error.localizedDescription() == (
        f"program_source:5:{line.index(word) + 1}: error: unknown type name '{word}'\n"
    )
    assert session.library(text, enough)[1] is None


def test_too_much_threadgroup_memory(session: Session) -> None:
    text = ADD_ONE.replace(
        "    if (int(i)",
        "    threadgroup float much[8193];\n    much[i] = 0.0f;\n    if (int(i)",
    )
    assert session.pipeline(text, "add_one") == (
        "32772 bytes of threadgroup memory, Metal has 32768"
    )
