"""The simulated Metal shows who uses memory too early, too late or too far."""

from __future__ import annotations

import gc
import mmap
import weakref

import numpy as np

from tests.metal.session import Session, refused
from tests.metal.simulated import Machine
from tests.metal.simulated.buffers import FREED, LENT, MANAGED, PRIVATE
from tests.metal.simulated.device import PAGE


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
    session.finish()
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
    session.finish()
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
    session.finish()
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
