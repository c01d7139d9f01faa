"""Random functions give each lane what it would get if it ran alone."""

from __future__ import annotations

import numpy as np
import pytest

from eas.ir.text import print_function
from tests.interpreter.random_functions import LANES, random_function
from tests.interpreter.running import outcome
from tests.interpreter.scalar_oracle import Lane
from tests.thorough import sampled

PROGRAMS = 7


@sampled(3)
@pytest.mark.parametrize("seed", range(150))
def test_each_lane_runs_as_if_alone(seed: int) -> None:
    function = random_function(seed)
    lanes = [Lane(p, i) for p in range(PROGRAMS) for i in range(LANES[0])]
    for lane in lanes:
        lane.run(function)
    empty = [np.zeros(PROGRAMS * LANES[0], np.int32) for _ in function.params]
    arrays, printed = outcome(function, empty, (PROGRAMS,))
    for param, array in zip(function.params, arrays, strict=True):
        wanted = [lane.stored[param.value.id] for lane in lanes]
        assert array.tolist() == wanted, print_function(function)
    for lane in lanes:
        start = f"{lane.program} {lane.lane} "
        assert [line for line in printed if line.startswith(start)] == lane.printed
