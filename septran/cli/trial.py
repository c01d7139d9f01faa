"""An operator on random arrays, compared with what its tasks make of them in NumPy.

A vendor's C runs in a copy of this process: whatever it does, there is an answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eas.septran.cli.arguments import Arguments, headline, tunables_of
from eas.septran.cli.failures import WrongResult
from eas.septran.flat.counts import Row, count
from eas.septran.flat.nodes import Module
from eas.septran.logic.numpy_reference import random_arrays, reference_of, tolerance_of
from eas.septran.operators import Operator
from eas.support.command_line import lay_out_plainly
from eas.tuning.equality import relative_errors

if TYPE_CHECKING:
    from rich.table import Table

Array = np.ndarray[Any, Any]


def try_out(operator: Operator, arguments: Arguments) -> str:
    """Runs an operator; the text has its error and what it moved."""
    built = operator.build(*arguments.arrays)
    module = built.lowered.module
    given = make_arrays(module, arguments)
    found, overrun = run_on_copies(operator, given)
    expected = reference_of(operator.entry, given, arguments.dtype, tunables_of(operator))
    allowed = tolerance_of(arguments.dtype)
    lines = [headline(operator, arguments)]
    wrong = [f"{name}: bytes beyond the array were written" for name in overrun]
    is_right = True
    for param, before, mine, right in zip(module.params, given, found, expected, strict=True):
        if param.privilege != "r":
            error = error_of(mine, right)
            text = f"the largest error is {error:.1e}, {allowed:.0e} is allowed"
            lines.append(f"{param.name}: {text}")
            is_right = is_right and error <= allowed
        elif mine.tobytes() != before.tobytes():
            wrong.append(f"{param.name}: it is only read, and it was changed")
    if not is_right:
        wrong.append("the result is not that of NumPy")
    if wrong:
        raise WrongResult("\n".join([*lines, *wrong]))
    return "\n".join([*lines, "", lay_out_plainly(_table(count(module, {})))])


def run_on_copies(operator: Operator, given: Sequence[Array]) -> tuple[list[Array], list[str]]:
    """What an operator makes of copies of arrays, and those beyond which it has written."""
    if not operator.runs_library:
        found = [array.copy() for array in given]
        operator(*found)
        return found, []
    from eas.tuning.isolation import CAN_FORK, Limits, Stopped, run_forked

    if not CAN_FORK:
        return _run_guarded(operator, given)
    try:
        unlimited = Limits(math.inf, 1 << 61)
        return run_forked(lambda: _run_guarded(operator, given), unlimited, is_silent=False)
    except Stopped as stopped:
        raise operator.library_failed(stopped.reason) from None


def _run_guarded(operator: Operator, given: Sequence[Array]) -> tuple[list[Array], list[str]]:
    """Runs on arrays that have bytes of a known value before and after them."""
    from eas.septran.tuner.measure import guarded_copy, is_intact

    guarded = [guarded_copy(array) for array in given]
    operator(*(array for array, _ in guarded))
    names = operator.entry.parameters
    overrun = [
        name for name, (_, guards) in zip(names, guarded, strict=True) if not is_intact(guards)
    ]
    return [array for array, _ in guarded], overrun


def make_arrays(module: Module, arguments: Arguments) -> list[Array]:
    """Random numbers; an array that is only written has none that could be read by mistake."""
    arrays = random_arrays([like.shape for like in arguments.arrays], arguments.dtype)
    for param, array in zip(module.params, arrays, strict=True):
        if arguments.dtype.is_float and param.privilege == "w":
            array.fill(np.nan)
    return arrays


def error_of(found: Array, expected: Array) -> float:
    """The largest of the errors by which `tune` judges, too."""
    return float(relative_errors(expected, found).max(initial=0.0))


def _table(rows: list[Row]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("kernel")
    for title in ("programs", "copies", "barriers", "products", "bytes copied"):
        table.add_column(title, justify="right")
    for row in rows:
        if not row.loop:
            total = row.total
            numbers = (row.runs, total.copies, total.barriers, total.mmas, total.bytes)
            table.add_row(row.kernel, *(f"{number:,}" for number in numbers))
    return table
