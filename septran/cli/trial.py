"""An operator on random arrays, compared with what its tasks make of them in NumPy."""

from __future__ import annotations

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
    found = [array.copy() for array in given]
    operator(*found)
    expected = reference_of(operator.entry, given, arguments.dtype, tunables_of(operator))
    names = [param.name for param in module.params if "w" in param.privilege]
    errors = {
        param.name: error_of(mine, right)
        for param, mine, right in zip(module.params, found, expected, strict=True)
        if param.name in names
    }
    allowed = tolerance_of(arguments.dtype)
    lines = [headline(operator, arguments)]
    for array, error in errors.items():
        lines.append(f"{array}: the largest error is {error:.1e}, {allowed:.0e} is allowed")
    if not all(error <= allowed for error in errors.values()):
        raise WrongResult("\n".join([*lines, "the result is not that of NumPy"]))
    return "\n".join([*lines, "", lay_out_plainly(_table(count(module, {})))])


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
