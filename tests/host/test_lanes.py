"""Random code of lanes gives what CPython gives, on every backend.

`EAS_FUZZ_LANES=5000 uv run pytest tests/host/test_lanes.py` runs that many kernels, 10 at a time.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host
from tests.fuzz.lanes import LANES, LENGTH, ROW, TRIPS, run_in_cpython, write_kernels
from tests.fuzz.running import load
from tests.host.alike import Arrays, Trial, run_trials
from tests.thorough import batches

BATCH = 6
BATCHES = batches("EAS_FUZZ_LANES", BATCH, always=6, thoroughly=20)


@pytest.mark.parametrize("batch", BATCHES)
def test_lanes_do_what_scalar_code_would_do(host: Host, batch: int) -> None:
    seeds = range(batch * BATCH // 2, (batch + 1) * BATCH // 2)
    run_trials(host, [trial for seed in seeds for trial in trials_of(seed)])


def trials_of(seed: int) -> list[Trial]:
    """The kernel over lanes, and the one of scalars."""
    text = write_kernels(Random(seed))
    module = load(text)
    x = np.random.default_rng(seed).integers(-9, 9, LENGTH).astype("i4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(LANES * ROW, "i4")}

    expected = arrays()
    run_in_cpython(module["in_cpython"], expected["x"], expected["out"], TRIPS)
    return [
        trial_of(module[kind], f"{kind}, seed {seed}:\n\n{text}", arrays, expected, programs)
        for kind, programs in (("with_lanes", 2), ("with_scalars", LANES))
    ]


def trial_of(kernel: Any, name: str, arrays: Any, expected: Arrays, programs: int) -> Trial:
    compiled = kernel.compile("*i32", "*i32", "i32")

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": TRIPS})

    return Trial(name, compiled.function, compiled.metal, arrays, bind, (programs,), expected)
