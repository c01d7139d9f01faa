"""Pipelines: lists of passes as data, and the one driver that runs them.

A target is a chain of pipelines: each says which one it follows, so that a pass has a number in the
whole list of its target. Variables of the environment show what happens on the way:

- `EAS_VERIFY=1` verifies the function after every pass.
- `EAS_TIMING=passes` prints how long each pass took.
- `EAS_DUMP=folder` writes the function's text after every pass, each to a file of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Generic, TypeVar

from eas.ir.dump import dump, dump_folder
from eas.ir.nodes import Function
from eas.ir.stages import SOURCE, Stage
from eas.ir.verify import VerifyError, verify
from eas.support.records import frozen
from eas.support.timing import timed

_NOTHING = nullcontext()
Options = TypeVar("Options", contravariant=True)


@frozen
class Pass(Generic[Options]):
    """A step from function to function, under the options of its target.

    `reason` says why it stands at its place in the list. `stage` is what the function conforms to
    from here on, None where that does not change.
    """

    name: str
    run: Callable[[Function, Options], Function]
    reason: str
    stage: Stage | None = None


def without_options(run: Callable[[Function], Function]) -> Callable[[Function, object], Function]:
    """A pass that no target has options for."""
    return lambda function, _: run(function)


@frozen
class Pipeline(Generic[Options]):
    """Passes that run one after the other with the same options; `follows` has run before."""

    name: str
    passes: tuple[Pass[Options], ...]
    follows: Pipeline[Any] | None = None

    @property
    def first(self) -> int:
        """The number of the first pass in the whole list of the target, counted from 1."""
        before = self.follows
        return 1 if before is None else before.first + len(before.passes)

    @property
    def start(self) -> Stage:
        """The stage of the functions that the first pass takes."""
        return SOURCE if self.follows is None else self.follows.end

    @property
    def end(self) -> Stage:
        """The stage of the functions that the last pass gives."""
        stages = [each.stage for each in self.passes if each.stage is not None]
        return stages[-1] if stages else self.start


def chain(last: Pipeline[Any]) -> tuple[Pipeline[Any], ...]:
    """The pipelines of a target in the order in which they run."""
    return (last,) if last.follows is None else (*chain(last.follows), last)


def run(
    pipeline: Pipeline[Options], function: Function, options: Options, until: str | None = None
) -> Function:
    """The function after all passes, or after the pass named `until`."""
    for each, _, after in steps(pipeline, function, options):
        function = after
        if each.name == until:
            break
    return function


def steps(
    pipeline: Pipeline[Options], function: Function, options: Options
) -> Iterator[tuple[Pass[Options], Stage, Function]]:
    """Runs the passes; gives each with the stage and the function that it leads to."""
    stage = pipeline.start
    is_verifying = os.environ.get("EAS_VERIFY") == "1"
    is_timing = os.environ.get("EAS_TIMING") == "passes"
    folder = dump_folder()
    if folder and pipeline.follows is None:
        is_written = dump(folder, function, pipeline.name, 0, "front-end")
        folder = folder if is_written else None  # one report is enough
    for number, each in enumerate(pipeline.passes, pipeline.first):
        with timed(function.name, f"the pass {each.name}") if is_timing else _NOTHING:
            function = each.run(function, options)
        stage = each.stage or stage
        if folder and not dump(folder, function, pipeline.name, number, each.name):
            folder = None
        if is_verifying:
            _verify_after(each.name, function, stage)
        yield each, stage, function


def _verify_after(name: str, function: Function, stage: Stage) -> None:
    try:
        verify(function, stage)
    except VerifyError as error:
        raise VerifyError(f"after the pass `{name}`: {error.message}", error.op) from error
