"""The interpreter runs a function after every pass of every target, and it always does the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from eas.call_arguments import argument_types, specialize_call
from eas.frontend_ast.lower import lower
from eas.ir.nodes import Function
from eas.ir.passes import COMMON, optimize, with_bounds
from eas.ir.pipeline import Pipeline, steps
from eas.ir.stages import SOURCE, Stage
from eas.ir.verify import verify
from eas.msl.pipeline import MetalOptions
from eas.runtime.binding import Binding
from eas.runtime.grid import implicit_grid
from eas.runtime.interpreter import run
from eas.targets import TARGETS, pipelines_of
from tests.acting import MAKERS, PROGRAMS
from tests.test_kernels import NAMES, case_of

SEEDS = 12
Grid = tuple[int, ...]


class Trial:
    """A kernel, its arguments and its grid."""

    def __init__(self, kernel: Any, make: Callable[[], dict[str, Any]], grid: Grid | None) -> None:
        self.kernel, self.make = kernel, make
        call = self._call()
        types = argument_types(kernel.parameters.all, call)
        self.function = lower(kernel.fn, types, fast_math=kernel.fast_math).function
        self.grid = grid or implicit_grid(call.values, call.constants)

    def _call(self) -> Any:
        parameters = self.kernel.parameters
        bound = parameters.bind((), self.make())
        return specialize_call(self.kernel.name, parameters.all, bound, is_launch=True)

    def outcome(self, function: Function, stage: Stage = SOURCE) -> dict[str, object]:
        """What the arrays hold after a launch of a function, and what it prints."""
        values, printed = self._call().values, list[str]()
        bound = Binding(function).bind(values)
        run(function, bound, self.grid, program_output=printed.append, stage=stage)
        arrays = {k: v.tobytes() for k, v in values.items() if isinstance(v, np.ndarray)}
        return {**arrays, "printed": printed}


def stages(
    function: Function, pipelines: Sequence[Pipeline[Any]]
) -> Iterator[tuple[str, Stage, Function]]:
    """The function after each pass that changes it, with the pass and its stage."""
    for pipeline in pipelines:
        for each, stage, after in steps(pipeline, function, MetalOptions()):
            verify(after, stage)
            if after != function:
                yield each.name, stage, after
            function = after


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_does_the_same_after_every_pass(name: str) -> None:
    case = case_of(name)
    trial = Trial(case.kernel, case.arguments, case.grid)
    expected = trial.outcome(trial.function)
    for each, stage, function in stages(trial.function, [COMMON]):
        assert trial.outcome(function, stage) == expected, f"after the pass `{each}`"
    common = optimize(trial.function)
    for target in TARGETS:
        for start in (common, with_bounds(common)):
            for each, stage, function in stages(start, pipelines_of(target)[1:]):
                what = f"after the pass `{each}` of {target}, checked: {start.checked}"
                assert trial.outcome(function, stage) == expected, what


@pytest.mark.parametrize(("target", "name"), MAKERS)
def test_a_pass_acts_on_kernels_made_for_it_and_keeps_what_they_do(target: str, name: str) -> None:
    acted = 0
    for seed in range(SEEDS):
        made = MAKERS[target, name](Random(seed))
        trial = Trial(made.kernel, made.arguments, (PROGRAMS,))
        expected = trial.outcome(trial.function)
        for each, stage, function in stages(trial.function, pipelines_of(target)):
            acted += each == name
            assert trial.outcome(function, stage) == expected, f"after `{each}`:\n{made.text}"
    assert acted >= SEEDS // 2, f"{name} acted on {acted} of {SEEDS}"


def test_every_pass_of_a_back_end_has_kernels_made_for_it() -> None:
    own = {
        (target, each.name)
        for target in TARGETS
        for pipeline in pipelines_of(target)[2:]
        for each in pipeline.passes
    }
    assert own == MAKERS.keys()
