"""Copies between buffers by the GPU, which also reaches private memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from eas.runtime.metal.completion import time_limit, wait
from eas.runtime.metal.device import Device
from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.residency import Resident
from eas.support.records import field, record

WORD = 4  # bytes: Metal copies multiples of it, from multiples to multiples


def copy(device: Device, source: Resident, target: Resident) -> None:
    """Copies the bytes of one part of a buffer to another, and waits for that."""
    device.check_process()
    if source.nbytes == 0:
        return
    with device.framework.objc.autorelease_pool():
        commands = device.queue().commandBuffer()
        encoder = None if commands is None else commands.blitCommandEncoder()
        if commands is None or encoder is None:
            raise MetalError(f"{device.name} takes no commands for a copy")
        try:
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                source.buffer, source.offset, target.buffer, target.offset, source.nbytes
            )
        finally:  # freeing an encoder before that aborts the process
            encoder.endEncoding()
        commands.commit()
        wait(device.framework, commands, "", time_limit(os.environ))


def find_resident(device: Device, array: np.ndarray[Any, np.dtype[Any]]) -> Resident | None:
    """The buffer that the memory of a flat array is in; None if the GPU does not have it."""
    return device.residency.find(array.__array_interface__["data"][0], array.nbytes)


@record
class Saved:
    """What buffers hold before a kernel runs that may have to run again."""

    device: Device
    _copies: list[Resident] = field(default_factory=list[Resident])

    def restore_or_save(self, parts: Sequence[Resident]) -> None:
        """Saves the parts; from the second call on, restores them."""
        whole = [_whole_words(part) for part in parts]
        if not self._copies:
            for part in whole:
                buffer = self.device.memory(part.nbytes, "a copy of a tensor", is_private=True)
                self._copies.append(Resident(buffer, 0, part.nbytes))
                copy(self.device, part, self._copies[-1])
        else:
            for part, saved in zip(whole, self._copies, strict=True):
                copy(self.device, saved, part)


def _whole_words(part: Resident) -> Resident:
    start, end = part.offset // WORD * WORD, -(-(part.offset + part.nbytes) // WORD) * WORD
    return Resident(part.buffer, start, end - start)
