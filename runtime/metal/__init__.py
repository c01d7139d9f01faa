"""Runs Metal texts on the GPU of a Mac, through pyobjc.

It knows nothing of how a text came about: it gets a `Program`, arrays at buffer indices, extents.
Metal ends the process when it is used wrongly, so everything is checked before it is called.
"""

from eas.runtime.metal.completion import time_limit
from eas.runtime.metal.device import Device, default_device, missing, open_device
from eas.runtime.metal.dispatch import Dispatch
from eas.runtime.metal.errors import Complaint, MetalError, TextError
from eas.runtime.metal.libraries import Pipeline
from eas.runtime.metal.requirements import Program

__all__ = [
    "Complaint",
    "Device",
    "Dispatch",
    "MetalError",
    "Pipeline",
    "Program",
    "TextError",
    "default_device",
    "missing",
    "open_device",
    "time_limit",
]
