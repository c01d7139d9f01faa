"""Ring buffers in threadgroup memory: a slot is read while the next one is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import Host
from tests.host.alike import Arrays, Trial, check_trials, run_trials

SIZE = 64


@eas.kernel
def rotate(x, out, n, SLOTS: eas.constexpr, LANES: eas.constexpr):
    ring = mk.alloc_tg(SLOTS * LANES, mk.f32)
    lane = mk.arange(0, LANES)
    mk.store(ring, lane, mk.load(x, lane))
    for t in range(n):
        reversed_lanes = mk.load(ring, t % SLOTS * LANES + (LANES - 1 - lane))
        mk.store(ring, (t + 1) % SLOTS * LANES + lane, reversed_lanes + mk.load(x, lane))
    mk.store(out, lane, mk.load(ring, n % SLOTS * LANES + lane))


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_a_ring_buffer_gives_what_the_interpreter_gives(
    host: Host, checked_host: Host, slots: int
) -> None:
    compiled: Any = rotate.compile("*f32", "*f32", "i32", SLOTS=slots, LANES=SIZE)
    loop = compiled.msl.partition("for (int t")[2].partition("\n    }")[0]
    assert loop.count("threadgroup_barrier") == (2 if slots == 1 else 1)

    def arrays() -> Arrays:
        return {"x": np.arange(SIZE, dtype="f4"), "out": np.zeros(SIZE, "f4")}

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": 7})

    trial = Trial(f"{slots}", compiled.function, compiled.metal, arrays, bind, (1,))
    run_trials(host, [trial])
    check_trials(checked_host, [trial])
