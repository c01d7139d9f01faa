"""The simulated Metal refuses steps in a wrong order."""

from __future__ import annotations

import gc
from typing import Any

from tests.metal.session import Session, refused
from tests.metal.simulated import Machine
from tests.metal.simulated.objects import constant


def test_what_is_right_runs(session: Session) -> None:
    session.set_all()
    session.dispatch()
    seen: list[int] = []
    session.commands.addCompletedHandler_(lambda done: seen.append(done.status()))
    session.finish()
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
    session.finish()
    assert session.result() == [3, 3, 3, 0]


def test_a_command_buffer_without_commands_is_none_the_worse(session: Session) -> None:
    session.finish()
    assert session.commands.status() == constant("MTLCommandBufferStatusCompleted")


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
    session.finish()
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
    session.finish()
    assert machine.troubles == ["a handler raises ValueError(4), which ends the process"]
    machine.troubles.clear()


def test_more_command_buffers_than_a_queue_has(session: Session) -> None:
    kept = [session.queue.commandBuffer() for _ in range(63)]
    with refused("waits until one of 64 command buffers is done"):
        session.queue.commandBuffer()
    session.finish()
    kept.append(session.queue.commandBuffer())
