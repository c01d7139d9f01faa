"""Which cases of a large test run always, and which with `--thorough` only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

thorough = pytest.mark.thorough


def one_of(every: int, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Cases for `parametrize`; without `--thorough` only one of so many runs, the first and so on.

    A case is a tuple of values.
    """
    return [
        pytest.param(*case, marks=() if number % every == 0 else thorough)
        for number, case in enumerate(cases)
    ]


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
