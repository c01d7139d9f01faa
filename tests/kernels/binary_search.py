"""Where each number belongs in a sorted array: every lane halves an interval of its own."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def binary_search(ordered, wanted, places, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    key = mk.load(wanted, offs, offs < N)
    low, high = 0, ordered.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < key:
            low = middle + 1
        else:
            high = middle
    mk.store(places, offs, low, offs < N)


def arguments() -> Arguments:
    return {
        "ordered": np.sort(floats(77)),
        "wanted": floats(130, seed=1),
        "places": np.zeros(130, "i4"),
        "N": 130,
        "BLOCK": 64,
    }


def reference(ordered: Array, wanted: Array, **_: object) -> dict[str, Array]:
    return {"places": np.searchsorted(ordered, wanted).astype("i4")}


CASE = Case(binary_search, arguments, reference)
