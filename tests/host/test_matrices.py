"""Random kernels over matrices give what NumPy gives, also where operands are shared.

`EAS_FUZZ_MATRICES=5000 uv run pytest tests/host/test_matrices.py` runs that many, 8 at a time.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from eas.frontend_ast.source.errors import CompileError
from eas.msl.host import Host
from tests.fuzz.accumulators import ELEMENTS, write_accumulators
from tests.fuzz.matrices import PROGRAMS, TRIPS, InexactError, run_in_numpy, write_kernel
from tests.fuzz.running import load
from tests.host.alike import Arrays, Trial, run_trials
from tests.thorough import batches

BATCH = 4
BATCHES = batches("EAS_FUZZ_MATRICES", BATCH, always=4, thoroughly=24)


@pytest.mark.parametrize("batch", BATCHES)
def test_products_do_not_change_what_they_read(host: Host, batch: int) -> None:
    trials: list[Trial] = []
    seed = batch * 1000
    while len(trials) < BATCH:
        trials += trials_of(seed)
        seed += 1
    run_trials(host, trials)


@pytest.mark.parametrize("batch", BATCHES)
def test_accumulators_give_what_the_interpreter_gives(host: Host, batch: int) -> None:
    seeds = range(batch * BATCH, (batch + 1) * BATCH)
    run_trials(host, [accumulators_of(seed) for seed in seeds])


def accumulators_of(seed: int) -> Trial:
    text, size = write_accumulators(Random(seed))
    x = np.random.default_rng(seed).integers(-1, 2, ELEMENTS).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(PROGRAMS * size, "f4")}

    compiled = load(text)["compute"].compile("*f32", "*f32", "i32")

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": TRIPS})

    name = f"seed {seed}:\n\n{text}"
    return Trial(name, compiled.function, compiled.metal, arrays, bind, (PROGRAMS,))


def trials_of(seed: int) -> list[Trial]:
    """A kernel, if its numbers stay so small that all sums are exact."""
    text, size = write_kernel(Random(seed))
    x = np.random.default_rng(seed).integers(-1, 2, PROGRAMS * size).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros_like(x)}

    expected = arrays()
    try:
        run_in_numpy(text, expected["x"], expected["out"])
    except InexactError:
        return []
    kernel, name = load(text)["compute"], f"seed {seed}:\n\n{text}"
    compiled = kernel.compile("*f32", "*f32", "i32")
    try:
        metal = compiled.metal
    except CompileError as error:  # more threadgroup memory than there is
        assert [each.code for each in error.diagnostics] == ["E1001"], name
        check_on_cpu(kernel, arrays(), expected, name)
        return []

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": TRIPS})

    return [Trial(name, compiled.function, metal, arrays, bind, (PROGRAMS,), expected)]


def check_on_cpu(kernel: Any, arrays: Arrays, expected: Arrays, name: str) -> None:
    kernel[PROGRAMS](arrays["x"], arrays["out"], TRIPS, _backend="cpu")
    for array, right in expected.items():
        np.testing.assert_array_equal(arrays[array], right, f"{array} on the CPU, {name}")
