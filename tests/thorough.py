"""Which cases of a large test run always, and which with `--thorough` only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

thorough = pytest.mark.thorough


def sampled(every: int) -> pytest.MarkDecorator:
    """Of a test with many cases one of so many in a row runs without `--thorough`.

    It is the one whose values, such as the backend and the dtype, have run least often before it.
    """
    return pytest.mark.sampled(every)


def in_turn(backends: Sequence[str], number: int) -> tuple[str, ...]:
    """The backends that the case of a number always runs on: the first one, and another in turn.

    The first one is the interpreter, the cheapest. A test that compares many cases on all backends
    marks those on the others `thorough`.
    """
    first, *others = backends
    return first, others[number % len(others)]


def on_backends(backends: Sequence[str], cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Cases for `parametrize` on every backend, its name as the last value.

    Without `--thorough` a case runs on those of `in_turn`. A value has the id that is its name, or
    its text: the same in every process.
    """
    found: list[Any] = []
    for number, case in enumerate(cases):
        names = [str(getattr(value, "name", value)) for value in case]
        for backend in backends:
            marks = () if backend in in_turn(backends, number) else thorough
            found.append(pytest.param(*case, backend, id="-".join([*names, backend]), marks=marks))
    return found


def batches(variable: str, size: float, *, always: int, thoroughly: int) -> list[Any]:
    """Numbers for `parametrize`, of tests that try `size` random programs each.

    As many programs as `always` run in any case, as many as `thoroughly` with `--thorough`. If the
    environment sets the variable, as many as it says run in any case.
    """
    asked = int(os.environ.get(variable, "0"))
    if asked:
        always = thoroughly = asked
    first, count = ceil(always / size), ceil(max(always, thoroughly) / size)
    return [pytest.param(n, marks=() if n < first else thorough) for n in range(count)]
