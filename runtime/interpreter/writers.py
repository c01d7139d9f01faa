"""Who wrote what: finds programs that write different values to one place of an array.

Programs of a launch run in no order, so the value of such a place is left to chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eas.ir.ops.record import Array
from eas.runtime.interpreter.programs import Programs

NOBODY = -1
SEVERAL = -2


@dataclass(slots=True)
class Writers:
    """The number of the program that wrote each element of an array last.

    As long as stores go to ever higher stretches of consecutive elements, as in most kernels, they
    are only listed. `table` is made from the list by the first store that does not.
    """

    size: int
    stretches: list[tuple[slice, Array]] = field(default_factory=list[tuple[slice, Array]])
    end: int = 0
    table: Array | None = None

    def claim(self, place: slice | Array, numbers: Array) -> Array | None:
        """Puts down who writes to a place now: each of the numbers to an equal part of it.

        Gives who else wrote each of the elements before, or None if nobody did.
        """
        if isinstance(place, slice) and self.table is None and place.start >= self.end:
            self.stretches.append((place, numbers))
            self.end = place.stop
            return None
        table = self._make_table() if self.table is None else self.table
        before = table[place]
        now = np.repeat(numbers, before.size // numbers.size)
        others = np.where((before == now) & (before != SEVERAL), NOBODY, before)
        table[place] = now
        return None if (others == NOBODY).all() else others

    def _make_table(self) -> Array:
        table = self.table = np.full(self.size, NOBODY, np.int32)
        for place, numbers in self.stretches:
            table[place].reshape(numbers.size, -1)[...] = numbers[:, None]
        self.stretches.clear()
        return table


def writers_now(programs: Programs, rows: int) -> Array:
    """The numbers of the programs that write these rows: one each, or all of them the only one."""
    if rows != programs.size:
        return np.full(1, SEVERAL, np.int32)
    # Numbers beyond 31 bits start again: two such programs may then pass for one.
    numbers = np.arange(programs.first, programs.first + rows) & 0x7FFFFFFF
    return numbers.astype(np.int32)
