"""What the interpreter knows about every element: written, arriving, touched by whom."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DType
from eas.support.records import field, record

Array: TypeAlias = np.ndarray[Any, Any]

POISON = 0xA5  # each byte of an integer that nothing has written
SEVERAL = -1


class AccessError(Exception):
    """An access that has no defined result."""


class Cells:
    """The elements of a buffer, slot by slot, and the state of each."""

    def __init__(
        self, name: str, dtype: DType, shape: tuple[int, ...], memory: str, slots: int = 1
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.memory = memory
        self.shape = shape
        self.slots = slots
        self.depth = 0  # how many parallel loops are around its allocation
        whole = (slots, *shape)
        self.data: Array = poisoned(whole, dtype)
        self.is_written = np.zeros(whole, np.bool_)
        self.is_arriving = np.zeros(whole, np.bool_)
        self.reading = np.zeros(whole, np.int32)
        self._hazards: tuple[Array, Array] | None = None

    def require_readable(self, index: Any) -> None:
        if self.is_arriving[index].any():
            raise AccessError(f"reads `{self.name}` before the wait for its copy")
        if not self.is_written[index].all():
            raise AccessError(f"reads elements of `{self.name}` that nothing has written")

    def require_writable(self, index: Any) -> None:
        if self.is_arriving[index].any():
            raise AccessError(f"writes `{self.name}` before the wait for its copy")
        if self.reading[index].any():
            raise AccessError(f"writes `{self.name}` while a copy from it is in flight")

    def note_hazard(self, index: Any, stmt: int, is_write: bool) -> None:
        """Finds statements that touch one element with no barrier between them."""
        if self._hazards is None:
            shape = self.data.shape
            self._hazards = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        writers, readers = self._hazards
        others = writers[index]
        if ((others != 0) & (others != stmt)).any():
            raise AccessError(f"touches `{self.name}` with no barrier after another wrote it")
        if not is_write:
            _add_reader(readers, index, stmt)
            return
        others = readers[index]
        if ((others != 0) & (others != stmt)).any():
            raise AccessError(f"writes `{self.name}` with no barrier after another read it")
        writers[index] = stmt

    def forget_hazards(self) -> None:
        self._hazards = None


@record
class Frame:
    """A parallel loop: the iteration that runs, and which ones have touched each element."""

    reduced: dict[str, Cells] = field(default_factory=dict[str, Cells])
    iteration: int = 0
    touched: dict[int, tuple[Cells, Array, Array]] = field(
        default_factory=dict[int, "tuple[Cells, Array, Array]"]
    )

    def note(self, cells: Cells, index: Any, is_write: bool) -> None:
        """Records an access, and raises `AccessError` if another iteration is in its way."""
        if any(cells is each for each in self.reduced.values()):
            return
        writers, readers = self._touched(cells)
        others = writers[index]
        if ((others != 0) & (others != self.iteration)).any():
            raise AccessError(f"two parallel iterations touch one element of `{cells.name}`")
        if not is_write:
            _add_reader(readers, index, self.iteration)
            return
        others = readers[index]
        if ((others != 0) & (others != self.iteration)).any():
            raise AccessError(f"two parallel iterations touch one element of `{cells.name}`")
        writers[index] = self.iteration

    def clear(self) -> None:
        self.touched.clear()

    def _touched(self, cells: Cells) -> tuple[Array, Array]:
        found = self.touched.get(id(cells))
        if found is None:
            shape = cells.data.shape
            found = cells, np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            self.touched[id(cells)] = found
        return found[1:]


def poisoned(shape: tuple[int, ...], dtype: DType) -> Array:
    """Memory that nothing has written yet."""
    if dtype.is_float:
        return np.full(shape, np.nan, dtype.numpy)
    if dtype.is_bool:
        return np.ones(shape, np.bool_)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.numpy.itemsize
    return np.full(size, POISON, np.uint8).view(dtype.numpy).reshape(shape)


def _add_reader(readers: Array, index: Any, who: int) -> None:
    found = readers[index]
    readers[index] = np.where((found == 0) | (found == who), who, SEVERAL)
