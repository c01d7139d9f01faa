"""Ops of the writer for products of matrices: their sums live in 8x8 fragments, no values.

A `dot` becomes ops that name fragments by a number, their `slot`, and matrices in threadgroup
memory by the number of their tile. `mma_begin` fills fragments, `mma_keep` writes a matrix to its
tile, `mma_step` adds the product of two tiles to fragments, `mma_end` gives the block. Where loops
carry a sum that they only add products to, only the steps stay inside: the fragments keep the sum
from trip to trip.

There tiles may have two halves that take turns. A trip has its matrices at hand (`mma_hold`), adds
the product of those that the trip before has kept, then keeps its own; a step after the loop adds
the last product. `mma_start` and `mma_turn` count the trips: that tells the halves apart.

A `dot` whose extents are no multiples of 8 stays as it is: each lane computes its element.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Compute
from eas.ir.ops.record import Attrs, OpDef
from eas.ir.types import F32, Type

EDGE = 8
_STRIP_BYTES = 8192
_SUM = ("slot", "batch", "m", "n", "tiles")


def _untyped(operands: Sequence[Type], attrs: Attrs) -> Type:
    raise TypeError("these ops are made by the writer only")


def _no_meaning(*_: object) -> None:
    raise TypeError("these ops are made by the writer only")


def _record(name: str, operands: tuple[str, ...], attrs: tuple[str, ...], doc: str) -> OpDef:
    return OpDef(name, operands, _untyped, _no_meaning, doc, attrs, False, collective=True)


BEGIN = _record("mma_begin", (), _SUM, "fills fragments with a tile, or with zeros")
HOLD = _record("mma_hold", ("a",), (), "has a matrix at hand that is going to be kept")
KEEP = _record("mma_keep", ("a",), ("tiles", "turn", "place"), "writes a matrix to a tile")
STEP = _record(
    "mma_step",
    ("factor",),
    (*_SUM, "k", "flips", "turn", "turning"),
    "multiplies fragments by a number, or one for each row; adds the product of two tiles",
)
START = _record("mma_start", (), ("tiles", "turn"), "no half of some tiles has been written yet")
TURN = _record("mma_turn", (), ("tiles", "turn"), "the halves of some tiles change places")
END = _record("mma_end", (), _SUM, "the block that fragments hold")
MMA_OPS = frozenset(op.name for op in (BEGIN, HOLD, KEEP, STEP, START, TURN, END))


def fits(op: Compute) -> bool:
    """Whether fragments can do a product."""
    return all(extent % EDGE == 0 for value in op.operands for extent in value.shape[-2:])


def number(op: Compute, name: str) -> int:
    """One of the numbers that an op of ours says."""
    found = op.attr(name)
    assert isinstance(found, int)
    return found


def numbers(op: Compute, name: str) -> tuple[int, ...]:
    found = op.attr(name)
    assert isinstance(found, tuple)
    return found


def strip_rows(op: Compute, threads: int) -> int:
    """How many rows of a product go through threadgroup memory at a time; none if it goes whole.

    So many that each thread has as many elements of each strip.
    """
    n = number(op, "n")
    rows, most = number(op, "batch") * number(op, "m"), _STRIP_BYTES * 8 // (n * F32.bits)
    choices = range(EDGE, min(rows - 1, most) + 1, EDGE)
    return max((h for h in choices if rows % h == 0 and h * n % threads == 0), default=0)
