"""The simulated blit encoder copies what Metal copies, and refuses what Metal refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metal.session import Session, refused
from tests.metal.simulated.objects import constant

PRIVATE = constant("MTLResourceStorageModePrivate")


@pytest.fixture
def blit(session: Session) -> Any:
    session.encoder.endEncoding()
    made = session.commands.blitCommandEncoder()
    yield made
    if made.is_open:
        made.endEncoding()


def copy(blit: Any, *arguments: Any) -> None:
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(*arguments)


def test_bytes_go_through_private_memory(session: Session, blit: Any) -> None:
    source = session.buffer(np.arange(4, dtype=np.float32))
    private = session.own(session.device.newBufferWithLength_options_(16, PRIVATE))
    copy(blit, source, 4, private, 0, 12)
    copy(blit, private, 0, session.x, 4, 8)
    blit.endEncoding()
    session.commands.commit()
    session.commands.waitUntilCompleted()
    assert session.result() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("offset", "target_offset", "size", "message"),
    [
        (0, 0, 0, "a copy of nothing"),
        (2, 0, 4, "2 is no multiple of 4 bytes"),
        (0, 6, 4, "6 is no multiple of 4 bytes"),
        (0, 0, 7, "7 is no multiple of 4 bytes"),
        (12, 0, 8, "bytes 12 to 20 of a buffer of 16"),
        (0, 16, 4, "bytes 16 to 20 of a buffer of 16"),
    ],
)
def test_a_wrong_copy_is_refused(
    session: Session, blit: Any, offset: int, target_offset: int, size: int, message: str
) -> None:
    other = session.buffer(np.zeros(4, np.float32))
    with refused(message):
        copy(blit, session.x, offset, other, target_offset, size)


def test_copies_within_a_buffer_do_not_overlap(session: Session, blit: Any) -> None:
    with refused("copies overlap"):
        copy(blit, session.x, 0, session.x, 4, 8)
    copy(blit, session.x, 0, session.x, 8, 8)


def test_an_encoder_that_has_ended_takes_nothing(session: Session, blit: Any) -> None:
    blit.endEncoding()
    with refused("an encoder that has ended"):
        copy(blit, session.x, 0, session.x, 8, 8)
    with refused("an encoding that ends twice"):
        blit.endEncoding()


def test_one_encoder_is_open_at_a_time(session: Session) -> None:
    with refused("a second encoder before the first has ended"):
        session.commands.blitCommandEncoder()
