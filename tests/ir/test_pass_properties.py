"""What holds for every pass: valid functions stay valid, and do what they did."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eas.ir.nodes import Function
from eas.ir.passes import optimize, relax
from eas.ir.passes.cse import merge_common
from eas.ir.passes.dead import remove_dead
from eas.ir.passes.exits import lower_exits
from eas.ir.passes.fold import fold
from eas.ir.passes.hoist import hoist
from eas.ir.passes.relax import use_ranges
from eas.ir.passes.select import use_selects
from eas.ir.pipeline import steps
from eas.ir.rewrite import renumber
from eas.ir.stages import CORE, SOURCE, Stage
from eas.ir.text import print_function
from eas.ir.verify import verify
from eas.msl.pipeline import MetalOptions
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter import run
from eas.targets import TARGETS, pipelines_of
from tests.ir.lanes import run_lane
from tests.ir.programs import LANES, write_function
from tests.ir.strategies import MAX_LANES, SIZE, functions

Pass = Callable[[Function], Function]
PROGRAMS = 3


def checked(f: Function) -> Function:
    return remove_dead(f, keeps_faults=True)


def unchecked(f: Function) -> Function:
    return remove_dead(f, keeps_faults=False)


KEEPING = [fold, merge_common, hoist, checked, use_selects, renumber, optimize]
ALL = [*KEEPING, use_ranges, unchecked, relax]


def outcome(f: Function, stage: Stage = SOURCE) -> list[object]:
    """What a grid of programs leaves in memory, and what it prints."""
    random = np.random.default_rng(0)
    arrays = {
        "a": random.normal(size=SIZE).astype(np.float32),
        "x": random.integers(-3, 60, SIZE).astype(np.int32),
        "counts": np.zeros(SIZE, np.int32),
        "out": np.zeros(PROGRAMS * MAX_LANES, np.float32),
        "outs": np.zeros(PROGRAMS * MAX_LANES, np.int32),
        "totals": np.zeros(PROGRAMS, np.int32),
    }
    scalars = {"n": np.int32(7), "s": np.float32(1.5)}
    arguments = [
        ArrayArgument(arrays[p.name], 0) if p.name in arrays else scalars[p.name] for p in f.params
    ]
    printed: list[str] = []
    run(f, arguments, (PROGRAMS,), program_output=printed.append, stage=stage)
    # which of the NaNs a result is differs between processors
    arrays["out"][np.isnan(arrays["out"])] = np.nan
    return [*printed, *(array.tobytes() for array in arrays.values())]


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.__name__)
@settings(max_examples=30)
@given(f=functions())
def test_a_function_stays_valid_and_does_what_it_did(change: Pass, f: Function) -> None:
    before = lower_exits(f)
    after = change(before)
    verify(after, CORE)
    assert outcome(after) == outcome(before)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=30)
@given(f=functions())
def test_a_function_does_what_it_did_after_every_pass_of_a_target(target: str, f: Function) -> None:
    expected = outcome(f)
    for pipeline in pipelines_of(target):
        for each, stage, after in steps(pipeline, f, MetalOptions()):
            if after != f:
                assert outcome(after, stage) == expected, f"after the pass `{each.name}`"
            f = after


@given(f=functions())
def test_a_function_without_scopes_does_what_it_did_with_them(f: Function) -> None:
    assert outcome(lower_exits(f)) == outcome(f)


@pytest.mark.parametrize("change", KEEPING, ids=lambda change: change.__name__)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_lane_has_the_same_effects_and_faults(change: Pass, seed: int) -> None:
    before = lower_exits(write_function(Random(seed).randrange, faults=True))
    after = change(before)
    verify(after, CORE)
    for s0, s1, lane in [(s0, 2, lane) for s0 in (-1, 1) for lane in range(LANES)]:
        arguments = {"out": [0] * 64, "s0": s0, "s1": s1}
        assert run_lane(after, arguments, lane) == run_lane(before, arguments, lane)


@settings(max_examples=50)
@given(functions())
def test_what_is_optimized_has_dense_numbers_in_the_order_of_the_text(f: Function) -> None:
    once = optimize(f)
    assert print_function(renumber(once)) == print_function(once)
