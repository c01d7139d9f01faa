"""The simulated Metal refuses arguments and extents that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host
from tests.metal.session import ADD_ONE, Session, refused
from tests.metal.simulated import Machine, installed
from tests.metal.simulated.layout import layout_of


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


def test_numbers_and_bytes_of_numpy_are_taken(session: Session) -> None:
    session.set_all()
    session.encoder.setBuffer_offset_atIndex_(session.x, np.int64(0), np.uint8(0))
    session.encoder.setBytes_length_atIndex_(np.array([2], np.int32), np.int32(4), 1)
    session.dispatch(session.metal.MTLSizeMake(np.int32(1), 1, 1), [4, 1, 1])
    session.finish()
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
