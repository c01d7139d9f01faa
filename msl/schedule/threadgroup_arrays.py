"""Arrays in threadgroup memory: what each is for, and the value that it serves.

Steps declare their accesses to these, memory is planned for them, and lowering declares them in the
text: all by the same record.
"""

from __future__ import annotations

from enum import Enum

from eas.ir.nodes import Compute, Value
from eas.support.records import frozen


class Role(Enum):
    """What an array is for."""

    ALLOCATED = "memory that the user allocates"
    STAGED = "the elements of a block"
    TILE = "a matrix that simdgroups multiply"
    STRIP = "some rows of a matrix product"
    PARTIALS = "the partials of a reduction or a scan"
    PARTIAL_INDICES = "the indices of the partials of an `argmax` or `argmin`"
    CHUNK = "an element per thread of the operand of a reduction"
    BROADCAST = "the result of an atomic that one thread does for all"


@frozen
class ThreadgroupArray:
    """The array of a value in a role; the value of a tile is its pointer."""

    role: Role
    value: Value


@frozen
class Scratch:
    """The memory of arrays that are overlaid, by the largest of them."""

    largest: ThreadgroupArray


def staged(value: Value) -> ThreadgroupArray:
    return ThreadgroupArray(Role.STAGED, value)


def partials(value: Value) -> ThreadgroupArray:
    return ThreadgroupArray(Role.PARTIALS, value)


def partials_of(op: Compute) -> list[ThreadgroupArray]:
    """The partials of a reduction, and for `argmax` and `argmin` those of the indices."""
    arrays = [partials(op.result)]
    if op.op.reduction in ("argmax", "argmin"):
        arrays.append(ThreadgroupArray(Role.PARTIAL_INDICES, op.result))
    return arrays
