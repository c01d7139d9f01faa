"""Trials of configs of a kernel: each in a process of its own, beside the best one so far."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from eas.argument_copies import Array, WrittenCopies
from eas.compiler import CompiledKernel
from eas.config import choose_backend
from eas.frontend_ast.source.errors import CompileError
from eas.kernel import Kernel
from eas.runtime.errors import KernelError
from eas.runtime.refusals import LaunchError
from eas.tuning.isolation import CAN_FORK, Limits, Stopped, run_forked
from eas.tuning.judging import Plan, judge
from eas.tuning.outcomes import Outcome, Status, usual_slowness

Values = Mapping[str, Any]


class KernelTrials:
    """The trials of one launch. `bound` are its arguments by name, `options` those of the launch.

    The first config that runs is the reference of all others.
    """

    def __init__(
        self, kernel: Kernel, bound: Values, options: Values, plan: Plan, limits: Limits
    ) -> None:
        self._kernel = kernel
        self._bound = bound
        self._options: dict[str, Any] = {**options, "_sync": True}
        self._plan = plan
        self._limits = limits
        self._reference: Values | None = None
        self._best: Values | None = None
        self._best_seconds = float("inf")
        self._tried: list[tuple[Outcome, float]] = []

    def run(self, config: Values) -> tuple[Outcome, float]:
        """What comes of a config, and its seconds, comparable with those of the others."""
        try:
            outcome = self._isolated(config)
        except Stopped as stopped:
            outcome = Outcome(stopped.status, stopped.reason)
        seconds = outcome.relative_to(self._best_seconds, usual_slowness(self._tried))
        self._tried.append((outcome, seconds))
        if outcome.is_right and self._reference is None:
            self._reference = config
        if seconds < self._best_seconds:
            self._best, self._best_seconds = config, seconds
        return outcome, seconds

    def _isolated(self, config: Values) -> Outcome:
        backend = choose_backend(self._options.get("_backend"))
        # A process that has used Metal cannot be copied; the system ends kernels that hang there.
        if not CAN_FORK or backend == "metal" or (sys.platform == "darwin" and _has_objc()):
            return self._judged(config)
        return run_forked(lambda: self._judged(config), self._limits)

    def _judged(self, config: Values) -> Outcome:
        try:
            others = (self._reference, self._best)
            copies = WrittenCopies(self._bound, self._written(config, *others))
            reference, best = (self._runner(each, copies) if each else None for each in others)
            return judge(self._runner(config, copies), reference, best, self._plan)
        except (CompileError, LaunchError) as error:
            if _comes_from_memory(error):
                return Outcome("memory", "out of memory")
            return _failed("refused", error)
        except KernelError as error:
            return _failed("failed", error)

    def _written(self, *configs: Values | None) -> list[str]:
        """The arrays that any of these writes: one may leave out a store that another has."""
        return sorted({name for each in configs if each for name in self._compiled(each).writes})

    def _compiled(self, config: Values) -> CompiledKernel:
        threads = config.get("_tptg", self._options.get("_tptg"))
        values = {name: value for name, value in config.items() if name != "_tptg"}
        return self._kernel.compile(**{**self._bound, **values}, _tptg=threads)

    def _runner(self, config: Values, copies: WrittenCopies) -> _Run:
        return _Run(self._kernel, {**copies.arguments, **self._options, **config}, copies)


class _Run:
    """Launches with one config on copies of the arrays that it writes."""

    def __init__(self, kernel: Kernel, arguments: Values, copies: WrittenCopies) -> None:
        self._kernel = kernel
        self._arguments = dict(arguments)
        self._copies = copies

    def restore(self) -> None:
        self._copies.restore()

    def run(self) -> None:
        self._kernel(**self._arguments)

    def written(self) -> Mapping[str, Array]:
        return self._copies.values()


def _has_objc() -> bool:
    return "objc" in sys.modules


def _comes_from_memory(error: BaseException | None) -> bool:
    """Whether an error was raised since no memory was left."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def _failed(status: Status, error: Exception) -> Outcome:
    """The first line of an error is the reason, all of it the report if it has more than that."""
    text = str(error).strip()
    if isinstance(error, LaunchError):
        text = text.removeprefix(f"kernel `{error.kernel}`: ")
    reason, _, more = text.partition("\n")
    return Outcome(status, reason, report=text if more else "")
