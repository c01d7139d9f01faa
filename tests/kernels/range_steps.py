"""What `range` does with bounds and steps that are only known at run time, downwards too."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def range_steps(starts, stops, steps, sums, lasts):
    p = mk.program_id(0)
    total, last = 0, -1
    for i in range(mk.load(starts, p), mk.load(stops, p), mk.load(steps, p)):
        total += i
        last = i
    mk.store(sums, p, total)
    mk.store(lasts, p, last)


def arguments() -> Arguments:
    ranges = [(0, 10, 1), (0, 10, 3), (10, 0, -1), (10, 0, -4), (5, 5, 1), (3, 9, -2), (-7, 8, 5)]
    starts, stops, steps = np.array(ranges, "i4").T.copy()
    sums, lasts = np.zeros(7, "i4"), np.zeros(7, "i4")
    return {"starts": starts, "stops": stops, "steps": steps, "sums": sums, "lasts": lasts}


def reference(starts: Array, stops: Array, steps: Array, **_: object) -> dict[str, Array]:
    bounds = zip(starts, stops, steps, strict=True)
    ranges = [range(*map(int, bound)) for bound in bounds]
    lasts = [r[-1] if r else -1 for r in ranges]
    return {"sums": np.array([sum(r) for r in ranges], "i4"), "lasts": np.array(lasts, "i4")}


CASE = Case(range_steps, arguments, reference, grid=(7,))
