"""Typed IR to Metal Shading Language: layout, schedule, lowering, text."""

from eas.msl.kernel import (
    Buffer,
    Field,
    MslKernel,
    ThreadgroupMemory,
    choose_budget,
    describe,
    list_memory,
    write,
)
from eas.msl.ops.errors import UnsupportedError
from eas.support.report_buffer import Site

__all__ = [
    "Buffer",
    "Field",
    "MslKernel",
    "Site",
    "ThreadgroupMemory",
    "UnsupportedError",
    "choose_budget",
    "describe",
    "list_memory",
    "write",
]
