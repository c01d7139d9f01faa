"""Shared events of the simulated Metal, and the order that it promises: as little as Metal does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metal.session import Session, refused
from tests.metal.simulated import Machine

SCALE = """\
#include <metal_stdlib>
using namespace metal;

kernel void scale(device float* x [[buffer(0)]],
                  constant float& factor [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    x[i] = x[i] * factor + 1.0f;
}

kernel void copy(device const float* x [[buffer(0)]],
                 device float* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    y[i] = x[i];
}
"""


def newest(count: int) -> int:
    return count - 1


class Work:
    """Command buffers that scale an array, on some queues."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.scale = session.pipeline(SCALE, "scale")
        self.copy = session.pipeline(SCALE, "copy")
        self.event = session.own(session.device.newSharedEvent())
        self.committed: list[Any] = []

    def queue(self) -> Any:
        return self.session.own(self.session.device.newCommandQueue())

    def encode_scale(self, commands: Any, x: Any, factor: float) -> None:
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(self.scale)
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBytes_length_atIndex_(np.float32(factor).tobytes(), 4, 1)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (4, 1, 1))
        encoder.endEncoding()

    def commit(self, commands: Any) -> None:
        commands.commit()
        self.committed.append(commands)

    def finish(self) -> None:
        for commands in self.committed:
            commands.waitUntilCompleted()


@pytest.fixture
def work(session: Session) -> Work:
    return Work(session)


def values(buffer: Any) -> list[float]:
    return np.frombuffer(buffer.contents().as_buffer(16), np.float32).tolist()


def scaled_on_two_queues(work: Work, *, is_ordered: bool) -> float:
    """What two queues make of an array: one adds 1 to 2 * 0, the other to 3 times that."""
    x = work.session.buffer(np.zeros(4, np.float32))
    first, second = work.queue().commandBuffer(), work.queue().commandBuffer()
    work.encode_scale(first, x, 2.0)
    if is_ordered:
        first.encodeSignalEvent_value_(work.event, 1)
        second.encodeWaitForEvent_value_(work.event, 1)
    work.encode_scale(second, x, 3.0)
    work.commit(first)
    work.commit(second)
    work.finish()
    return values(x)[0]


def test_two_queues_have_no_order(machine: Machine, work: Work) -> None:
    assert scaled_on_two_queues(work, is_ordered=False) == 4.0
    machine.choose = newest
    assert scaled_on_two_queues(work, is_ordered=False) == 3.0


def test_an_event_orders_two_queues(machine: Machine, work: Work) -> None:
    machine.choose = newest
    assert scaled_on_two_queues(work, is_ordered=True) == 4.0
    assert work.event.signaledValue() == 1


def test_commands_of_a_queue_that_share_a_buffer_are_ordered(machine: Machine, work: Work) -> None:
    machine.choose = newest
    x, queue = work.session.buffer(np.zeros(4, np.float32)), work.queue()
    for factor in (2.0, 3.0):
        commands = queue.commandBuffer()
        work.encode_scale(commands, x, factor)
        work.commit(commands)
    work.finish()
    assert values(x) == [4.0] * 4


def test_commands_of_a_queue_that_share_nothing_have_no_order(machine: Machine, work: Work) -> None:
    machine.choose = newest
    queue, seen = work.queue(), list[int]()
    for number in range(3):
        commands = queue.commandBuffer()
        work.encode_scale(commands, work.session.buffer(np.zeros(4, np.float32)), 2.0)
        commands.addCompletedHandler_(lambda _, number=number: seen.append(number))
        work.commit(commands)
    work.finish()
    assert seen == [2, 1, 0]


def test_a_wait_for_a_value_that_was_signaled_before_goes_on(work: Work) -> None:
    first, second = work.queue().commandBuffer(), work.queue().commandBuffer()
    first.encodeSignalEvent_value_(work.event, 5)
    second.encodeWaitForEvent_value_(work.event, 3)
    work.commit(first)
    work.commit(second)
    work.finish()
    assert second.GPUEndTime() >= first.GPUEndTime()


def test_an_event_with_an_open_encoder_or_after_the_commit(work: Work) -> None:
    commands = work.queue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    with refused("a signal with an open encoder"):
        commands.encodeSignalEvent_value_(work.event, 1)
    with refused("a wait with an open encoder"):
        commands.encodeWaitForEvent_value_(work.event, 1)
    encoder.endEncoding()
    work.commit(commands)
    with refused("a signal after the commit"):
        commands.encodeSignalEvent_value_(work.event, 1)
    work.finish()


def test_the_cpu_may_read_what_commands_only_read(work: Work) -> None:
    x = work.session.buffer(np.ones(4, np.float32))
    y = work.session.buffer(np.zeros(4, np.float32))
    commands = work.queue().commandBuffer()
    commands.encodeWaitForEvent_value_(work.event, 1)
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(work.copy)
    encoder.setBuffer_offset_atIndex_(x, 0, 0)
    encoder.setBuffer_offset_atIndex_(y, 0, 1)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (4, 1, 1))
    encoder.endEncoding()
    work.commit(commands)
    assert values(x) == [1.0] * 4
    assert values(y) != [0.0] * 4
    signal = work.queue().commandBuffer()
    signal.encodeSignalEvent_value_(work.event, 1)
    work.commit(signal)
    work.finish()
    assert values(y) == [1.0] * 4
