"""One trial of a candidate, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from platform import node
from typing import Any

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.files import SeptranError
from eas.septran.logic.numpy_reference import random_arrays, reference_of
from eas.septran.operators import Operator
from eas.septran.tuner.problem import Candidates, Problem, refusal
from eas.septran.tuner.space import Values
from eas.support.cache import digest
from eas.support.processor import describe_processor
from eas.support.records import frozen
from eas.tuning.isolation import Child, Limits, Stopped
from eas.tuning.judging import Plan, judge, sample
from eas.tuning.outcomes import Outcome

Array = np.ndarray[Any, Any]

Chosen = tuple[tuple[str, int | bool | str], ...]

_GUARD = np.full(4096, 0xA5, np.uint8)
_ALIGNED = 64  # bytes
_BEFORE, _AFTER = "bytes before {}", "bytes after {}"


@frozen
class Trial:
    """A candidate, and the best one so far, beside which it is timed."""

    problem: Problem
    values: Chosen
    best: Chosen | None
    plan: Plan
    limits: Limits
    machine: str  # the fingerprint of the computer that measures
    origin: str = ""  # the version and the files of the search, if they are to be compared


def run_trial(trial: Trial) -> Outcome:
    """What comes of a trial. It may be called on another computer, or in any thread or process.

    A computer that is not the one that measures only compiles the candidate and checks its result.
    """
    child = _child(trial.limits)
    try:
        return child.call(f"{__name__}:judge_candidate", trial, prepare=f"{__name__}:prepare")
    except Stopped as stopped:
        return Outcome(stopped.status, stopped.reason)


_CHILDREN: dict[tuple[int, int, Limits], Child] = {}


def _child(limits: Limits) -> Child:
    """A process for the trials of this thread: each has one, so that they do not wait."""
    import os
    import threading

    key = (os.getpid(), threading.get_ident(), limits)  # a copy of a process has none yet
    if key not in _CHILDREN:
        _CHILDREN[key] = Child(limits)
    return _CHILDREN[key]


def close_children() -> None:
    """Ends the processes of all trials."""
    while _CHILDREN:
        _CHILDREN.popitem()[1].end()


def prepare(trial: Trial) -> None:
    """What trials of a problem share, and each has a copy of; no code of a candidate runs here."""
    candidates, arrays, _ = _prepared(trial.problem)
    _ = candidates.origin, computer()
    candidates.base.load_code_generator()
    if candidates.base.target == "cpu" and trial.best is not None:
        with suppress(SeptranError):  # its trial says so
            _operator(trial.problem, trial.best).build(*arrays)


@lru_cache(maxsize=1)
def _operator(problem: Problem, chosen: Chosen) -> Operator:
    """The operator of the best candidate so far, which the next trials are timed beside, too."""
    return _prepared(problem)[0].operator(dict(chosen))


def judge_candidate(trial: Trial) -> Outcome:
    """The trial itself, in its process."""
    candidates, arrays, expected = _prepared(trial.problem)
    if trial.origin and trial.origin != candidates.origin:
        return Outcome("failed", f"{node()} has other files or another version than the search")
    plan = trial.plan
    if computer() != trial.machine:
        plan = Plan(0, 0, tolerance=plan.tolerance)
    try:
        candidate = _Run(candidates.operator(dict(trial.values)), arrays)
        best = None
        if trial.best is not None and plan.rounds:
            best = _Run(_operator(trial.problem, trial.best), arrays)
        return judge(candidate, _Known(expected), best, plan)
    except SeptranError as error:
        return Outcome("refused", refusal(error))


def time_in_turn(problem: Problem, chosen: Sequence[Chosen], plan: Plan) -> list[float]:
    """Seconds of candidates, one sample of each; called in a child.

    What was loaded stays loaded for the next turn. All work on the same arrays.
    """
    candidates, given, _ = _prepared(problem)
    taken: list[float] = []
    for each in chosen:
        if (problem, each) not in _LOADED:
            _LOADED[problem, each] = _Run(candidates.operator(dict(each)), given, _shared(problem))
        taken.append(sample(_LOADED[problem, each], plan))
    return taken


_LOADED: dict[tuple[Problem, Chosen], _Run] = {}


@cache
def _shared(problem: Problem) -> tuple[Array, ...]:
    return tuple(array.copy() for array in _prepared(problem)[1])


@cache
def _prepared(problem: Problem) -> tuple[Candidates, tuple[Array, ...], dict[str, Array]]:
    """The candidates of a problem, random arguments, and what NumPy makes of them."""
    candidates = Candidates(problem)
    dtype, entry = DTYPES[problem.dtype], candidates.base.entry
    arrays = random_arrays(problem.shapes, dtype)
    found = reference_of(entry, arrays, dtype, _tunables(candidates))
    expected = dict(zip(entry.parameters, found, strict=True))
    for name in entry.parameters:
        expected |= dict.fromkeys((_BEFORE.format(name), _AFTER.format(name)), _GUARD)
    return candidates, tuple(arrays), expected


def guarded_copy(array: Array) -> tuple[Array, tuple[Array, Array]]:
    """A copy of an array, and the bytes before and after it: who writes to them is found out."""
    size = array.nbytes
    memory = np.empty(size + 2 * _GUARD.size + _ALIGNED, np.uint8)
    start = -memory.ctypes.data % _ALIGNED + _GUARD.size
    before, after = memory[start - _GUARD.size : start], memory[start + size :][: _GUARD.size]
    before[:], after[:] = _GUARD, _GUARD
    copy = memory[start : start + size].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy, (before, after)


def is_intact(guards: tuple[Array, Array]) -> bool:
    """Whether nothing was written to the bytes before and after an array."""
    return all(np.array_equal(each, _GUARD) for each in guards)


def _tunables(candidates: Candidates) -> dict[str, int]:
    """A value for each tunable: NumPy's result is the same for all, and soonest for large tiles."""
    found: dict[str, int] = {}
    for instance in candidates.base.mapping.task_mappings.values():
        for name, value in getattr(instance, "tunables", {}).items():
            options = [value] if isinstance(value, int) else value.options()
            found[name] = max(map(int, options))
    return found


class _Run:
    """An operator with arguments of its own."""

    def __init__(
        self,
        operator: Operator,
        given: tuple[Array, ...],
        arrays: tuple[Array, ...] | None = None,
    ) -> None:
        self._operator = operator
        self._given = given
        guarded = [] if arrays else [guarded_copy(array) for array in given]
        self._arrays = arrays or tuple(array for array, _ in guarded)
        self._guards = [guards for _, guards in guarded]
        written = operator.build(*self._arrays).written
        names = operator.entry.parameters
        self._written = [n for n, name in enumerate(names) if name in written]
        self._names = names

    def restore(self) -> None:
        for number in self._written:
            np.copyto(self._arrays[number], self._given[number])

    def run(self) -> None:
        self._operator(*self._arrays)

    def written(self) -> Mapping[str, Array]:
        """All arrays: a library may write to those that it should only read, and beyond."""
        found = dict(zip(self._names, self._arrays, strict=True))
        for name, (before, after) in zip(self._names, self._guards, strict=False):
            found |= {_BEFORE.format(name): before, _AFTER.format(name): after}
        return found


class _Known:
    """The result that is known to be right, as a runner."""

    def __init__(self, expected: Mapping[str, Array]) -> None:
        self._expected = expected

    def restore(self) -> None: ...

    def run(self) -> None: ...

    def written(self) -> Mapping[str, Array]:
        return self._expected


@cache
def computer() -> str:
    """A fingerprint of this computer: times of two that differ are not comparable."""
    import os
    import platform

    described = describe_processor() or platform.processor()
    threads = os.environ.get("EAS_NUM_THREADS", "")
    return digest(platform.machine(), described, str(os.cpu_count()), threads)[:16]


def pairs(values: Values) -> Chosen:
    """Values in an order of their own, so that equal ones are equal."""
    return tuple(sorted(values.items()))
