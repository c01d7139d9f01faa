"""Runs IR for tests, under several sizes of chunks, which must not make a difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.nodes import Function
from eas.ir.ops.record import Array
from eas.ir.text import parse_function
from eas.ir.verify import verify
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter import Limits, run

# One program at a time, some of them, all of them.
CHUNKS = (1, 24, 1 << 17)

Argument = Array | np.generic | int | float


def run_function(
    function: Function, arguments: Sequence[Argument], grid: tuple[int, ...], limits: Limits
) -> list[str]:
    """Runs a function on arrays, which it may change, and scalars; gives what it prints."""
    verify(function)
    printed: list[str] = []
    bound = [
        ArrayArgument(a.reshape(-1), 0, a.shape) if isinstance(a, np.ndarray) else a
        for a in arguments
    ]
    run(function, bound, grid, limits=limits, program_output=printed.append)
    return printed


def outcome(
    function: Function, arguments: Sequence[Argument], grid: tuple[int, ...] = (1,)
) -> tuple[list[Array], list[str]]:
    """The arrays after a run and the lines it printed; the arguments stay as they are."""
    outcomes: list[tuple[list[Array], list[str]]] = []
    for elements in CHUNKS:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        printed = run_function(function, copies, grid, Limits(elements=elements))
        outcomes.append(([a for a in copies if isinstance(a, np.ndarray)], printed))
    first, *others = outcomes
    for arrays, printed in others:
        assert printed == first[1]
        for array, wanted in zip(arrays, first[0], strict=True):
            np.testing.assert_array_equal(array, wanted)
    return first


def arrays_after(text: str, *arguments: Argument, grid: tuple[int, ...] = (1,)) -> list[Array]:
    """The arrays after a run of a function given as text."""
    return outcome(parse_function(text), arguments, grid)[0]


def lines_of(text: str, *arguments: Argument, grid: tuple[int, ...] = (1,)) -> list[str]:
    """What a function given as text prints."""
    return outcome(parse_function(text), arguments, grid)[1]
