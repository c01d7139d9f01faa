"""Random kernels with `mk.alloc_tg`: as in NumPy on every backend, in every order, unreported.

`EAS_FUZZ_SHARED=5000 uv run pytest tests/host/test_shared_exchanges.py` runs that many kernels;
`EAS_FUZZ_SEED` is the first seed.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host
from tests.fuzz.running import load
from tests.fuzz.shared import PROGRAMS, TIMES, run_in_numpy, write_kernel
from tests.host.alike import Arrays, Trial, check_trials, run_trials
from tests.thorough import batches

FIRST = int(os.environ.get("EAS_FUZZ_SEED", "0"))
BATCH = 5
BATCHES = batches("EAS_FUZZ_SHARED", BATCH, always=5, thoroughly=20)
THREADS = (None, None, 1, 32, 33, 96)


@pytest.mark.parametrize("batch", BATCHES)
def test_exchanges_through_memory_agree_with_numpy(
    batch: int, host: Host, checked_host: Host
) -> None:
    first = FIRST + batch * BATCH
    trials = [exchange_trial(seed) for seed in range(first, first + BATCH)]
    run_trials(host, trials)
    check_trials(checked_host, trials)


def exchange_trial(seed: int) -> Trial:
    random = Random(seed)
    kernel = write_kernel(random)
    expected = _arrays(seed, kernel.size)
    run_in_numpy(kernel, **expected)
    function = load(kernel.text)["exchange"]
    threads = None if kernel.has_threads else random.choice(THREADS)
    compiled = function.compile(**_arrays(seed, kernel.size), n=np.int32(TIMES), _tptg=threads)

    def bind(arrays: Arrays) -> Any:
        return compiled.binding.bind({**arrays, "n": np.int32(TIMES)})

    return Trial(
        f"seed {seed}, threads {threads}\n{kernel.text}",
        compiled.function,
        compiled.metal,
        lambda: _arrays(seed, kernel.size),
        bind,
        (PROGRAMS,),
        expected,
    )


def _arrays(seed: int, size: int) -> Arrays:
    random = np.random.default_rng(seed)
    x = random.integers(0, 100, PROGRAMS * size).astype(np.int32)
    return {"x": x, "out": np.zeros(PROGRAMS * size, np.int32)}
