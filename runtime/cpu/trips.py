"""How often a `for` runs: exactly, whatever the width of its counter."""

from __future__ import annotations

from eas.ir.types import DTYPES, DType
from eas.runtime.cpu.division import divide
from eas.runtime.cpu.emit import Emitter, V, const


def trip_count(e: Emitter, bounds: list[V], dtype: DType) -> V:
    """The number of trips from start to stop by step, unsigned; a step of zero makes none."""
    start, stop, step = bounds
    zero, one = const(start.ty, 0), const(start.ty, 1)
    less = "slt" if dtype.is_signed else "ult"
    rises = e.icmp("sgt" if dtype.is_signed else "ugt", step, zero)
    falls = e.icmp("slt", step, zero) if dtype.is_signed else const(rises.ty, False)
    way = e.select(rises, e.binary("sub", stop, start), e.binary("sub", start, stop))
    size = e.select(rises, step, e.binary("sub", zero, step))
    runs = e.either(
        e.both(rises, e.icmp(less, start, stop)), e.both(falls, e.icmp(less, stop, start))
    )
    unsigned = DTYPES[f"u{dtype.bits}"]
    if step.known in (1, -1):
        trips = way
    else:
        trips = e.add(divide(e, e.binary("sub", way, one), size, unsigned), one)
    return e.select(runs, trips, zero)
