"""The passes of Metal, on random kernels that make them act: nothing illegal, and no change."""

from __future__ import annotations

from random import Random

import numpy as np

from eas.msl.ops.mma import IN_PLACE, MMA, SCALED_IN_PLACE
from tests.fuzz import resident
from tests.fuzz.accumulators import ELEMENTS, write_accumulators
from tests.fuzz.matrices import PROGRAMS, TRIPS, InexactError, run_in_numpy, write_kernel
from tests.fuzz.resident import write_resident
from tests.fuzz.rows import PLACES, write_rows
from tests.msl.passes import Arrays, check_passes

ACCUMULATORS = 20
IN_PLACE_OPS = {IN_PLACE.name, SCALED_IN_PLACE.name}
PRODUCTS = 20
RESIDENT = 20
ROWS = 50


def test_products_of_matrices_mean_the_same_after_every_pass() -> None:
    acted = [acted_on_products(seed) for seed in range(PRODUCTS)]
    assert {"dot-operands", "all-reduce", "dot-to-mma"} <= set().union(*acted)


def acted_on_products(seed: int) -> set[str]:
    text, size = write_kernel(Random(seed), (8, 16, 32))
    x = np.random.default_rng(seed).integers(-1, 2, PROGRAMS * size).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros_like(x)}

    try:
        run_in_numpy(text, **arrays())
    except InexactError:  # the order of sums would matter
        return set()
    return check_passes(text, arrays, PROGRAMS, n=TRIPS)


def test_accumulators_mean_the_same_after_every_pass() -> None:
    ops = [ops_of_accumulators(seed) for seed in range(ACCUMULATORS)]
    assert set().union(*ops) >= {op.name for op in MMA} - IN_PLACE_OPS


def ops_of_accumulators(seed: int) -> set[str]:
    text, size = write_accumulators(Random(seed))
    x = np.random.default_rng(seed).integers(-1, 2, ELEMENTS).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(2 * size, "f4")}

    return check_passes(text, arrays, 2, n=3)


def test_products_in_place_mean_the_same_after_every_pass() -> None:
    ops = [ops_of_resident(seed) for seed in range(RESIDENT)]
    assert set().union(*ops) >= {op.name for op in MMA}


def ops_of_resident(seed: int) -> set[str]:
    text, size = write_resident(Random(seed))
    x = np.random.default_rng(seed).integers(-1, 2, resident.ELEMENTS).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(2 * size, "f4")}

    return check_passes(text, arrays, 2, n=3)


def test_reductions_of_rows_mean_the_same_after_every_pass() -> None:
    acted = [acted_on_rows(seed) for seed in range(ROWS)]
    assert {"reduction-fusion", "all-reduce"} <= set().union(*acted)


def acted_on_rows(seed: int) -> set[str]:
    text, size = write_rows(Random(seed))
    x = np.random.default_rng(seed).integers(-3, 4, 2 * size).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(2 * size * PLACES, "f4")}

    return check_passes(text, arrays, 2)
