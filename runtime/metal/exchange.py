"""Buffers as other libraries know them: by the address of an `id<MTLBuffer>`."""

from __future__ import annotations

import ctypes

import numpy as np

from eas.runtime.metal.device import Device
from eas.runtime.metal.objects import Buffer
from eas.support.records import frozen


@frozen
class Found:
    """A buffer. `contents` is where the CPU finds its memory; None if it is private."""

    buffer: Buffer
    nbytes: int
    contents: int | None


def pointer_to(device: Device, buffer: Buffer) -> int:
    """The address of a buffer's object."""
    return device.framework.objc.pyobjc_id(buffer)


def buffer_at(device: Device, pointer: int) -> Found:
    """The buffer whose object is at an address. Another address would end the process."""
    with device.framework.objc.autorelease_pool():
        buffer: Buffer = device.framework.objc.objc_object(c_void_p=ctypes.c_void_p(pointer))
        nbytes = buffer.length()
        if buffer.storageMode() == device.framework.metal.MTLStorageModePrivate:
            return Found(buffer, nbytes, None)
        return Found(buffer, nbytes, contents_of(buffer, nbytes))


def contents_of(buffer: Buffer, nbytes: int) -> int:
    """Where the CPU finds the memory of a buffer that it shares."""
    view = np.frombuffer(buffer.contents().as_buffer(nbytes), np.uint8)
    return view.__array_interface__["data"][0]
