"""Random kernels give the same results as Metal text, as machine code, interpreted and in CPython.

`EAS_HOST_PROGRAMS=20000 pytest tests/host/test_three_ways.py` tries more of them than usual.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from eas.frontend_ast.source.errors import CompileError
from eas.ir.passes import optimize, relax
from eas.msl.host import CHECKED, Host, check
from eas.msl.kernel import write
from eas.msl.ops.errors import UnsupportedError
from eas.runtime.argument_values import ArrayArgument
from eas.support.diagnostics import render
from tests.fuzz.program import make_program
from tests.fuzz.running import load, write_file
from tests.host.alike import Arrays, Trial, run_trials
from tests.ir.strategies import MAX_LANES, SIZE, random_function
from tests.thorough import batches

BATCH = 25
PROGRAMS = 3
MOST_UNSUPPORTED = 5
THREADS = (None, None, 1, 32, 96)


def share(part: float) -> list[Any]:
    """The batches that have a part of all programs."""
    return batches("EAS_HOST_PROGRAMS", BATCH / part, always=25, thoroughly=500)


@pytest.mark.parametrize("batch", share(3 / 5))
def test_random_blocks_agree_with_the_interpreter(host: Host, batch: int) -> None:
    seeds = range(batch * BATCH, (batch + 1) * BATCH)
    trials = [trial for seed in seeds if (trial := block_trial(seed)) is not None]
    assert len(trials) >= BATCH - MOST_UNSUPPORTED
    run_trials(host, trials)


def block_trial(seed: int) -> Trial | None:
    random = Random(seed)
    function = optimize(random_function(random, random.randrange(60)))
    threads = random.choice(THREADS) if function.threads is None else None
    try:
        metal = write(relax(function), threads)
    except UnsupportedError:
        return None

    def bind(arrays: Arrays) -> list[ArrayArgument | np.generic]:
        scalars = {"n": np.int32(7), "s": np.float32(1.5)}
        return [
            ArrayArgument(arrays[p.name]) if p.name in arrays else scalars[p.name]
            for p in function.params
        ]

    return Trial(f"seed {seed}", function, metal, block_arrays, bind, (PROGRAMS,))


def block_arrays() -> Arrays:
    random = np.random.default_rng(0)
    return {
        "a": random.normal(size=SIZE).astype(np.float32),
        "x": random.integers(-3, 60, SIZE).astype(np.int32),
        "counts": np.zeros(SIZE, np.int32),
        "out": np.zeros(PROGRAMS * MAX_LANES, np.float32),
        "outs": np.zeros(PROGRAMS * MAX_LANES, np.int32),
        "totals": np.zeros(PROGRAMS, np.int32),
    }


@pytest.mark.parametrize("batch", share(2 / 5))
def test_random_kernels_agree_with_cpython(host: Host, batch: int) -> None:
    trials: list[Trial] = []
    seed = batch * 1000
    while len(trials) < BATCH:
        trials += kernel_trials(seed)
        seed += 1
    run_trials(host, trials[:BATCH])


@pytest.mark.parametrize("batch", share(1 / 10))
def test_random_kernels_access_memory_rightly(checked_host: Host, batch: int) -> None:
    seeds = range(batch * 1000 + 500, batch * 1000 + 515)
    trials = [trial for seed in seeds for trial in kernel_trials(seed)]
    texts = [trial.metal.text for trial in trials]
    library = checked_host.builder.build(texts, CHECKED)
    for unit, trial in enumerate(trials):
        arguments = trial.bind(trial.arrays())
        found = check(
            trial.metal,
            trial.function,
            arguments,
            trial.grid,
            checked_host,
            library=library,
            unit=unit,
        )
        assert [render(diagnostic) for diagnostic in found] == [], trial.name


def kernel_trials(seed: int) -> list[Trial]:
    """A program as scalar programs and lane by lane; Metal has no f64."""
    random = Random(seed)
    program = make_program(random, random.randrange(2, 14))
    if program.numbers.floats == "f64":
        return []
    module = load(write_file(program))
    try:
        expected: dict[str, Any] = module["run_in_cpython"]()
    except AssertionError:
        return []  # an array cannot hold a value: there is nothing to compare with
    right = {name: expected[name] for name in ("ints", "floats", "flags", "log")}
    trials: list[Trial] = []
    for kind, programs in (("with_scalars", 8), ("with_lanes", program.layout[0])):
        try:
            compiled = module[kind].compile(**module["inputs"]())
        except CompileError:
            return []  # whether the front end is right is not asked here

        def bind(arrays: Arrays, compiled: Any = compiled) -> list[Any]:
            return compiled.binding.bind(module["inputs"]() | arrays)

        def arrays() -> Arrays:
            return {k: v for k, v in module["inputs"]().items() if isinstance(v, np.ndarray)}

        trials.append(
            Trial(
                f"{kind} of seed {seed}",
                compiled.function,
                compiled.metal,
                arrays,
                bind,
                (programs,),
                right,
            )
        )
    return trials
