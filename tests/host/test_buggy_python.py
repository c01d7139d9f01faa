"""Bugs in kernels of Python are reported at their lines, and without bugs nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host, check
from eas.msl.host.findings import KINDS
from eas.support.diagnostics import Diagnostic
from tests.host.buggy_python import PAIRS
from tests.thorough import sampled

THREADS = 64
SIZE = 128
every_pair = pytest.mark.parametrize("name", PAIRS)


def found_in(kernel: Any, programs: int, host: Host) -> tuple[Diagnostic, ...]:
    arguments = {
        "x": np.ones(SIZE, np.float32),
        "y": np.zeros(SIZE, np.float32),
        "n": np.arange(SIZE, dtype=np.int32),
    }
    compiled = kernel.compile(**arguments, T=THREADS)
    bound = compiled.binding.bind(arguments)
    return check(compiled.metal, compiled.function, bound, (programs,), host)


@every_pair
def test_a_bug_in_python_is_found_in_its_line(name: str, checked_host: Host) -> None:
    pair = PAIRS[name]
    found = found_in(pair.wrong, pair.programs, checked_host)
    assert found != ()
    diagnostic = found[0]
    locs = [diagnostic.loc, *(label.loc for label in diagnostic.secondary)]
    assert KINDS[int(diagnostic.code[1:]) - 100] == pair.kind
    assert sorted({loc.line for loc in locs}) == pair.blamed
    assert all(loc.source.name == "buggy_python.py" for loc in locs)


@sampled(3)
@pytest.mark.parametrize("name", PAIRS)
def test_the_repaired_kernel_in_python_is_silent(name: str, checked_host: Host) -> None:
    pair = PAIRS[name]
    assert found_in(pair.right, pair.programs, checked_host) == ()


def test_there_are_many_bugs_in_python() -> None:
    assert len(PAIRS) >= 20
