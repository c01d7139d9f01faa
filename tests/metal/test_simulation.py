"""The simulated Metal refuses what Metal refuses."""

from __future__ import annotations

import gc
import mmap
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host
from tests.metal.conftest import in_a_fork
from tests.metal.simulated import FailedAssertion, Machine, installed
from tests.metal.simulated.buffers import FREED, LENT, MANAGED, PRIVATE
from tests.metal.simulated.device import PAGE
from tests.metal.simulated.layout import layout_of
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

    def result(self) -> list[float]:
        return np.frombuffer(self.x.contents().as_buffer(16), np.float32).tolist()


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
    seen: list[int] = []
    session.commands.addCompletedHandler_(lambda done: seen.append(done.status()))
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.commands.status() == constant("MTLCommandBufferStatusCompleted")
    assert session.commands.error() is None
    assert seen == [constant("MTLCommandBufferStatusCompleted")]
    assert session.result() == [1, 1, 1, 0]


def test_encoders_of_a_command_buffer_run_one_after_the_other(session: Session) -> None:
    for _ in range(3):
        session.set_all()
        session.dispatch()
        session.encoder.endEncoding()
        session.encoder = session.commands.computeCommandEncoder()
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.result() == [3, 3, 3, 0]


def test_a_command_buffer_without_commands_is_none_the_worse(session: Session) -> None:
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.commands.status() == constant("MTLCommandBufferStatusCompleted")


# --- arguments --------------------------------------------------------------------------------


def test_an_argument_that_is_not_bound(session: Session) -> None:
    session.encoder.setComputePipelineState_(session.state)
    session.encoder.setBuffer_offset_atIndex_(session.x, 0, 0)
    with refused("nothing is bound for `n`"):
        session.dispatch()


@pytest.mark.parametrize("index", [-1, 31])
def test_an_index_that_metal_does_not_have(session: Session, index: int) -> None:
    message = f"the index {index % 2**64} is not 0 to 30"
    with refused(message):
        session.encoder.setBuffer_offset_atIndex_(session.x, 0, index)
    with refused(message):
        session.encoder.setBytes_length_atIndex_(bytes(4), 4, index)
    with refused(message):
        session.encoder.setThreadgroupMemoryLength_atIndex_(16, index)


@pytest.mark.parametrize("offset", [-4, 16])
def test_an_offset_outside_of_the_buffer(session: Session, offset: int) -> None:
    with refused(f"offset {offset % 2**64} in 16 bytes"):
        session.encoder.setBuffer_offset_atIndex_(session.x, offset, 0)


def test_an_argument_that_is_unbound_again(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(None, 0, 0)
    with refused("nothing is bound for `x`"):
        session.dispatch()


def test_an_offset_between_elements(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.x, 2, 0)
    with refused("`x` starts at byte 2, not at a multiple of 4"):
        session.dispatch()


def test_an_offset_of_constants_that_not_every_gpu_takes(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.x, 4, 1)
    with refused("`n` starts at byte 4, not at a multiple of 32"):
        session.dispatch()


def test_a_buffer_that_has_no_room_for_an_element(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.buffer(np.zeros(1, np.int8)), 0, 0)
    with refused("`x` has 1 bytes, not the 4 of its type"):
        session.dispatch()


def test_a_struct_of_too_few_bytes(session: Session) -> None:
    text = ADD_ONE.replace("kernel", "struct Many { char a; long b; half c[3]; };\nkernel")
    text = text.replace("constant int& n", "constant Many& n").replace("< n", "< n.a")
    session.state = session.pipeline(text, "add_one")
    session.set_all()
    with refused("`n` has 4 bytes, not the 24 of its type"):
        session.dispatch()


@pytest.mark.parametrize(
    ("name", "size", "multiple"),
    [("float4", 16, 16), ("half3", 8, 8), ("packed_float3", 12, 4), ("uchar2", 2, 2)],
)
def test_vectors_have_layouts_of_theirown(name: str, size: int, multiple: int) -> None:
    assert layout_of(f"device const {name} *", "") == (size, multiple)


def test_bytes_for_an_array_that_is_written(session: Session) -> None:
    session.set_all()
    session.encoder.setBytes_length_atIndex_(bytes(16), 16, 0)
    with refused("`x` is written by the kernel"):
        session.dispatch()


def test_a_scalar_of_too_few_bytes(session: Session) -> None:
    session.set_all()
    session.encoder.setBytes_length_atIndex_(bytes(2), 2, 1)
    with refused("`n` has 2 bytes, not the 4 of its type"):
        session.dispatch()


def test_more_bytes_than_a_command_carries(session: Session) -> None:
    with refused("setBytes with 4097 bytes"):
        session.encoder.setBytes_length_atIndex_(bytes(4097), 4097, 1)


def test_no_bytes(session: Session) -> None:
    with refused("setBytes without bytes"):
        session.encoder.setBytes_length_atIndex_(b"", 0, 1)


def test_more_bytes_than_there_are(session: Session) -> None:
    with pytest.raises(ValueError, match=r"^Requesting buffer of 5, have buffer of 4$"):
        session.encoder.setBytes_length_atIndex_(bytes(4), 5, 1)


def test_a_pipeline_a_buffer_or_a_function_of_another_gpu(
    session: Session, metal_host: Host
) -> None:
    other = Machine(metal_host)
    with installed(other):
        stranger = Session()
        stranger.close()
    with refused("MTLComputePipelineState of another device"):
        session.encoder.setComputePipelineState_(stranger.state)
    with refused("MTLBuffer of another device"):
        session.encoder.setBuffer_offset_atIndex_(stranger.x, 0, 0)
    assert other.troubles == []


@pytest.mark.parametrize("thing", [None, 3, "x", b"x"])
def test_what_is_no_object_of_metal(session: Session, thing: object) -> None:
    with refused(f"{type(thing).__name__} is no MTLComputePipelineState"):
        session.encoder.setComputePipelineState_(thing)


def test_a_library_for_a_pipeline(session: Session) -> None:
    with refused("MTLLibrary is no MTLFunction"):
        library, _ = session.library(ADD_ONE)
        session.device.newComputePipelineStateWithFunction_error_(library, None)


# --- Python's values --------------------------------------------------------------------------


def test_numbers_and_bytes_of_numpy_are_taken(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.x, np.int64(0), np.uint8(0))
    session.encoder.setBytes_length_atIndex_(np.array([2], np.int32), np.int32(4), 1)
    session.dispatch(session.metal.MTLSizeMake(np.int32(1), 1, 1), [4, 1, 1])
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.result() == [1, 1, 0, 0]


def test_a_text_for_a_number(session: Session) -> None:
    with pytest.raises(ValueError, match=r"^depythonifying 'unsigned long long', got 'str'$"):
        session.encoder.setBuffer_offset_atIndex_(session.x, "0", 0)


def test_a_number_that_is_none(session: Session) -> None:
    with pytest.raises(TypeError):
        session.device.newBufferWithLength_options_(None, 0)


def test_a_text_for_bytes(session: Session) -> None:
    with pytest.raises(TypeError, match=r"^Expecting byte-buffer, got str$"):
        session.encoder.setBytes_length_atIndex_("four", 4, 1)


def test_bytes_for_a_text(session: Session) -> None:
    with pytest.raises(ValueError, match=r"bytes is no NSString$"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE.encode(), None, None)


def test_bytes_with_gaps(session: Session) -> None:
    with pytest.raises(TypeError):
        session.encoder.setBytes_length_atIndex_(np.zeros(4, np.int32)[::2], 8, 1)


@pytest.mark.parametrize("size", [(4, 1), (4, 1, 1, 1), 4])
def test_a_size_that_has_not_three_numbers(session: Session, size: object) -> None:
    session.set_all()
    with pytest.raises(ValueError, match=r"^depythonifying struct"):
        session.dispatch(threads=size)


# --- extents ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [(1025, 1, 1), (64, 8, 4), (-1, 1, 1)])
def test_more_threads_than_a_kernel_may_have(
    session: Session, threads: tuple[int, int, int]
) -> None:
    session.set_all()
    count = threads[0] % 2**64 * threads[1] * threads[2]
    with refused(f"{count} threads per threadgroup, this kernel has 1024"):
        session.dispatch(threads=threads)


def test_more_threads_than_the_kernel_leaves_room_for(machine: Machine, session: Session) -> None:
    machine.most_threads = 64
    session.set_all()
    with refused("65 threads per threadgroup, this kernel has 64"):
        session.dispatch(threads=(65, 1, 1))


@pytest.mark.parametrize("extents", [{"groups": (1, 0, 1)}, {"threads": (0, 1, 1)}])
def test_a_dispatch_of_nothing(session: Session, extents: dict[str, Any]) -> None:
    session.set_all()
    with refused("a dispatch of nothing"):
        session.dispatch(**extents)


def test_a_grid_whose_positions_do_not_fit(session: Session) -> None:
    session.set_all()
    with refused(f"{2**32 + 4} threads along an axis"):
        session.dispatch(groups=(2**30 + 1, 1, 1))


# --- threadgroup memory -----------------------------------------------------------------------

SHARED = ADD_ONE.replace("uint i [[", "threadgroup float* t [[threadgroup(0)]],\n uint i [[")


def test_threadgroup_memory_that_is_not_given(session: Session) -> None:
    session.state = session.pipeline(SHARED, "add_one")
    session.set_all()
    with refused("`t` has no threadgroup memory"):
        session.dispatch()
    session.encoder.setThreadgroupMemoryLength_atIndex_(16, 0)
    session.dispatch()


def test_threadgroup_memory_that_is_no_multiple(session: Session) -> None:
    with refused("20 bytes, not a multiple of 16"):
        session.encoder.setThreadgroupMemoryLength_atIndex_(20, 0)


def test_more_threadgroup_memory_than_there_is(session: Session) -> None:
    session.encoder.setThreadgroupMemoryLength_atIndex_(32768, 0)
    with refused("32784 bytes of threadgroup memory"):
        session.encoder.setThreadgroupMemoryLength_atIndex_(16, 1)


# --- the order of things ----------------------------------------------------------------------


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


def test_an_encoder_that_is_freed_before_the_encoding_ends(
    machine: Machine, session: Session
) -> None:
    encoder = session.queue.commandBuffer().computeCommandEncoder()
    del encoder
    gc.collect()
    assert machine.troubles == ["an encoder is freed before the encoding has ended"]
    machine.troubles.clear()


def test_a_commit_before_the_encoding_ends(session: Session) -> None:
    with refused("a commit with an open encoder"):
        session.commands.commit()


def test_two_encoders_at_once(session: Session) -> None:
    with refused("a second encoder before the first has ended"):
        session.commands.computeCommandEncoder()


def test_anything_after_the_commit(session: Session) -> None:
    session.commit()
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


def test_a_status_goes_its_way(session: Session) -> None:
    assert session.commands.status() == constant("MTLCommandBufferStatusNotEnqueued")
    session.commit()
    assert session.commands.status() == constant("MTLCommandBufferStatusCommitted")
    assert session.commands.error() is None
    session.commands.waitUntilCompleted()
    assert session.commands.status() == constant("MTLCommandBufferStatusCompleted")


def test_a_handler_that_raises(machine: Machine, session: Session) -> None:
    def fail(done: Any) -> None:
        raise ValueError(done.status())

    session.commands.addCompletedHandler_(fail)
    session.commit()
    session.commands.waitUntilCompleted()
    assert machine.troubles == ["a handler raises ValueError(4), which ends the process"]
    machine.troubles.clear()


def test_more_command_buffers_than_a_queue_has(session: Session) -> None:
    kept = [session.queue.commandBuffer() for _ in range(63)]
    with refused("waits until one of 64 command buffers is done"):
        session.queue.commandBuffer()
    session.commit()
    session.commands.waitUntilCompleted()
    kept.append(session.queue.commandBuffer())


# --- memory -----------------------------------------------------------------------------------


def test_results_that_nobody_has_waited_for(session: Session) -> None:
    session.set_all()
    session.dispatch()
    session.commit()
    poison = np.full(16, LENT, np.uint8).view(np.float32).tolist()
    assert session.result() == poison
    session.commands.waitUntilCompleted()
    assert session.result() == [1, 1, 1, 0]


def test_a_write_while_the_gpu_is_at_work(session: Session) -> None:
    session.set_all()
    session.dispatch()
    session.commit()
    np.frombuffer(session.x.contents().as_buffer(16), np.float32)[:] = 7
    session.commands.waitUntilCompleted()
    assert session.result() == [1, 1, 1, 0]


def test_a_buffer_that_two_command_buffers_use(session: Session) -> None:
    first = session.commands
    for _ in range(2):
        session.set_all()
        session.dispatch()
        session.commit()
        session.commands = session.queue.commandBuffer()
        session.encoder = session.commands.computeCommandEncoder()
    session.commit()
    first.waitUntilCompleted()
    session.commands.waitUntilCompleted()
    assert session.result() == [2, 2, 2, 0]


def test_a_view_of_a_buffer_that_is_gone(session: Session) -> None:
    buffer = session.buffer(np.zeros(4, np.float32))
    view = buffer.contents().as_buffer(16)
    del buffer
    gc.collect()
    assert bytes(view) == bytes([FREED]) * 16


def test_a_buffer_lives_as_long_as_its_commands(session: Session) -> None:
    session.set_all()
    session.dispatch()
    alive = weakref.ref(session.x)
    del session.x
    gc.collect()
    assert alive() is not None
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.commands.error() is None


def test_a_buffer_that_is_too_long(machine: Machine, session: Session) -> None:
    for length in (machine.most_buffer_bytes + 1, -1):
        with refused("a buffer longer than maxBufferLength"):
            session.device.newBufferWithLength_options_(length, 0)


def test_a_buffer_without_bytes_is_none(session: Session) -> None:
    assert session.device.newBufferWithLength_options_(0, 0) is None


def test_private_memory_that_the_cpu_wants(session: Session) -> None:
    buffer = session.own(session.device.newBufferWithLength_options_(16, PRIVATE))
    with refused("the CPU cannot reach private memory"):
        buffer.contents()


def test_managed_memory_that_nobody_synchronizes(session: Session) -> None:
    session.x = session.own(session.device.newBufferWithLength_options_(16, MANAGED))
    np.frombuffer(session.x.contents().as_buffer(16), np.float32)[:] = 5
    session.set_all()
    session.dispatch()
    session.commit()
    session.commands.waitUntilCompleted()
    assert session.result() == [5, 5, 5, 5]


def test_memory_of_no_kind(session: Session) -> None:
    with refused("0x30 is no memory"):
        session.device.newBufferWithLength_options_(16, 0x30)


def test_memory_of_the_cpu_is_used_in_place(session: Session) -> None:
    memory = mmap.mmap(-1, PAGE * 3)
    start = -np.frombuffer(memory, np.uint8).__array_interface__["data"][0] % PAGE
    page = np.frombuffer(memory, np.uint8, PAGE, start)
    make = session.device.newBufferWithBytesNoCopy_length_options_deallocator_
    session.x = session.own(make(page, PAGE, 0, None))
    session.set_all()
    session.dispatch()
    session.commit()
    session.commands.waitUntilCompleted()
    assert page.view(np.float32)[:4].tolist() == [1, 1, 1, 0]
    with refused("16 bytes, which is no multiple of 16384"):
        make(page, 16, 0, None)
    with refused("memory at 0x[0-9a-f]+, which is no multiple of 16384"):
        make(np.frombuffer(memory, np.uint8, PAGE, start + 64), PAGE, 0, None)
    with refused("memory of the CPU that is not shared"):
        make(page, PAGE, PRIVATE, None)
    assert make(page, 0, 0, None) is None


def test_more_bytes_than_a_buffer_has(session: Session) -> None:
    with refused("17 bytes of a buffer of 16"):
        session.x.contents().as_buffer(17)


# --- objects ----------------------------------------------------------------------------------


def test_an_object_that_is_released_twice(session: Session) -> None:
    buffer = session.buffer(np.zeros(1, np.float32))
    with refused("MTLBuffer is released once too often"):
        buffer.release()
    with refused(r"-\[MTLBuffer length\]: the object is freed"):
        buffer.length()
    with refused(r"-\[MTLBuffer retain\]: the object is freed"):
        session.encoder.setBuffer_offset_atIndex_(buffer, 0, 0)


def test_an_object_that_is_never_released(machine: Machine, session: Session) -> None:
    buffer = session.device.newBufferWithLength_options_(16, 0)
    del buffer
    gc.collect()
    assert machine.troubles == ["MTLBuffer is leaked"]
    machine.troubles.clear()


def test_an_object_outside_of_a_pool(machine: Machine, session: Session) -> None:
    def use() -> None:
        session.queue.commandBuffer()
        session.device.name()

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert machine.troubles == ["MTLCommandBuffer outside of a pool", "NSString outside of a pool"]
    machine.troubles.clear()


def test_an_object_in_a_forked_process(session: Session) -> None:
    def use() -> str:
        with refused(r"-\[MTLCommandQueue commandBuffer\]: the object is of another process"):
            session.queue.commandBuffer()
        return "refused"

    assert in_a_fork(use) == "refused"


def test_a_wrong_number_of_arguments(session: Session) -> None:
    with pytest.raises(TypeError, match=r"^Need 1 arguments, got 2$"):
        session.device.supportsFamily_(1, 2)


# --- libraries --------------------------------------------------------------------------------


def test_a_text_that_is_no_metal(session: Session) -> None:
    library, error = session.library(ADD_ONE.replace("x[i] +=", "y[i] +="))
    assert library is None
    assert error.domain() == "MTLLibraryErrorDomain"
    assert error.code() == constant("MTLLibraryErrorCompileFailure")
    assert error.localizedDescription().startswith("program_source:7:")


def test_a_text_that_breaks_a_rule_of_metal_only(session: Session) -> None:
    text = ADD_ONE.replace("uint i [[thread", "int i [[thread")
    assert session.library(text)[0] is None


def test_a_function_that_is_not_there_is_none(session: Session) -> None:
    assert session.library(ADD_ONE)[0].newFunctionWithName_("add_two") is None


def test_a_text_without_options_is_compiled_for_speed(machine: Machine, session: Session) -> None:
    make = session.device.newLibraryWithSource_options_error_
    session.own(make(ADD_ONE, None, None)[0])
    fast = {"version": 0x30002, "math_mode": 2, "math_functions": 0}
    assert machine.libraries[-1] == fast


def test_options_that_are_not_initialized(session: Session) -> None:
    options = session.metal.MTLCompileOptions.alloc()
    with refused("MTLCompileOptions without `init`"):
        options.setLanguageVersion_(0x20003)
    with refused("MTLCompileOptions without `init`"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, options, None)


def test_options_that_are_none(session: Session) -> None:
    with refused("dict is no MTLCompileOptions"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, {"fast": False}, None)


def test_an_error_that_goes_in(session: Session) -> None:
    with refused("an error that goes out is None on its way in"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, None, [])


@pytest.mark.parametrize(
    ("version", "system"), [(0x30001, 13), (0x30000, 12), (0x40, 15), (-1, 15)]
)
def test_a_version_of_the_language_that_the_system_does_not_have(
    machine: Machine, session: Session, version: int, system: int
) -> None:
    machine.system = (system, 0, 0)
    options = session.metal.MTLCompileOptions.alloc().init()
    with refused("0x[0-9a-f]+ is no version of the language that this macOS has"):
        options.setLanguageVersion_(version)


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
