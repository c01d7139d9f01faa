"""What pointers point to: arrays that all programs share, and threadgroup memory per program."""

from __future__ import annotations

import numpy as np

from eas.ir.ops.record import Array
from eas.ir.types import DType
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter.shadow_memory import ShadowMemory
from eas.support.records import frozen


@frozen
class Shadows:
    """Shadow memories for races among programs, or among threads: who accessed which element.

    `readers` is None if nothing reads the elements, `updaters` if there are no atomics.
    """

    writers: ShadowMemory
    readers: ShadowMemory | None
    updaters: ShadowMemory | None
    of_threads: bool = False

    @property
    def all(self) -> tuple[ShadowMemory, ...]:
        every = (self.writers, self.readers, self.updaters)
        return tuple(shadow for shadow in every if shadow is not None)


@frozen
class Memory:
    """What a pointer points to. Offsets from `low` to below `high` are inside.

    Offset `o` of the program at row `r` is `flat[origin + r * stride + o]`; `stride` is 0 for an
    array that all programs share. `written` marks initialized elements, for memory that starts
    uninitialized. `is_constant` is set if nothing writes to it, so that a load may give a view.
    `shadows` are for memory that several programs, or threads, may write to.
    """

    name: str
    flat: Array
    origin: int
    low: int
    high: int
    shape: tuple[int, ...] | None
    stride: int = 0
    written: Array | None = None
    is_constant: bool = False
    shadows: tuple[Shadows, ...] = ()


def device_memory(
    name: str, argument: ArrayArgument, is_constant: bool, shadows: tuple[Shadows, ...]
) -> Memory:
    flat, origin = argument.flat, argument.origin
    return Memory(
        name,
        flat,
        origin,
        low=-origin,
        high=flat.size - origin,
        shape=(flat.size,) if argument.shape is None else argument.shape,
        is_constant=is_constant,
        shadows=shadows,
    )


def threadgroup_memory(
    name: str, dtype: DType, size: int, programs: int, has_threads: bool
) -> Memory:
    total = programs * size
    return Memory(
        name,
        flat=np.zeros(total, dtype.numpy),
        origin=0,
        low=0,
        high=size,
        shape=None,
        stride=size,
        written=np.zeros(total, np.bool_),
        shadows=(_shadows_of_threads(total),) * has_threads,
    )


def _shadows_of_threads(size: int) -> Shadows:
    return Shadows(ShadowMemory(size), ShadowMemory(size), ShadowMemory(size), of_threads=True)
