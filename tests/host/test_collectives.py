"""Random kernels of reductions and scans: as in NumPy on every backend, in every order, unreported.

`EAS_FUZZ_COLLECTIVES=5000 uv run pytest tests/host/test_collectives.py` runs that many kernels;
`EAS_FUZZ_SEED` is the first seed.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from eas.frontend_ast.source.errors import CompileError
from eas.msl.host import Host
from tests.fuzz.collectives import PROGRAMS, TIMES, run_in_numpy, write_kernel
from tests.fuzz.running import load
from tests.host.alike import Arrays, Trial, check_trials, run_trials
from tests.thorough import batches

FIRST = int(os.environ.get("EAS_FUZZ_SEED", "0"))
BATCH = 5
BATCHES = batches("EAS_FUZZ_COLLECTIVES", BATCH, always=5, thoroughly=20)
THREADS = (None, None, None, None, 7, 32, 33, 40, 96)


@pytest.mark.parametrize("batch", BATCHES)
def test_reductions_and_scans_agree_with_numpy(batch: int, host: Host, checked_host: Host) -> None:
    first = FIRST + batch * BATCH
    seeds = range(first, first + BATCH)
    trials = [trial for seed in seeds if (trial := collective_trial(seed)) is not None]
    run_trials(host, trials)
    check_trials(checked_host, trials)


def collective_trial(seed: int) -> Trial | None:
    """A random kernel; none if it needs more threadgroup memory than Metal has."""
    random = Random(seed)
    kernel = write_kernel(random)
    expected = kernel.arrays(seed)
    run_in_numpy(kernel, expected)
    function = load(kernel.text)["collect"]
    threads = random.choice(THREADS)
    compiled = function.compile(**kernel.arrays(seed), n=np.int32(TIMES), _tptg=threads)
    try:
        metal = compiled.metal
    except CompileError as error:
        assert [d.code for d in error.diagnostics] == ["E1001"]
        return None

    def bind(arrays: Arrays) -> Any:
        return compiled.binding.bind({**arrays, "n": np.int32(TIMES)})

    return Trial(
        f"seed {seed}, threads {threads}\n{kernel.text}",
        compiled.function,
        metal,
        lambda: kernel.arrays(seed),
        bind,
        (PROGRAMS,),
        {name: expected[name] for name in kernel.results},
    )
