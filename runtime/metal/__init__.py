"""Runs Metal texts on the GPU of a Mac, through pyobjc.

It does not know how a text was generated: it gets a `Program`, arrays at buffer indices, extents.
Metal aborts the process when it is misused, so everything is checked before a call.
"""

from eas.runtime.metal.blit import WORD, Saved, copy, find_resident
from eas.runtime.metal.completion import time_limit
from eas.runtime.metal.device import Device, default_device, missing, open_device
from eas.runtime.metal.dispatch import Dispatch
from eas.runtime.metal.errors import Complaint, MetalError, TextError
from eas.runtime.metal.exchange import buffer_at, contents_of, pointer_to
from eas.runtime.metal.libraries import Pipeline
from eas.runtime.metal.requirements import Program
from eas.runtime.metal.residency import Residency, Resident

__all__ = [
    "WORD",
    "Complaint",
    "Device",
    "Dispatch",
    "MetalError",
    "Pipeline",
    "Program",
    "Residency",
    "Resident",
    "Saved",
    "TextError",
    "buffer_at",
    "contents_of",
    "copy",
    "default_device",
    "find_resident",
    "missing",
    "open_device",
    "pointer_to",
    "time_limit",
]
