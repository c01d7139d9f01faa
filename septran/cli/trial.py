"""An operator on random arrays, compared with what its tasks make of them in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eas.ir.types import BF16, F16, F32, DType
from eas.septran.cli.arguments import Arguments, headline, tunables_of
from eas.septran.cli.failures import WrongResult
from eas.septran.flat.counts import Row, count
from eas.septran.flat.nodes import Module
from eas.septran.logic.eager import run_task
from eas.septran.operators import Operator
from eas.support.command_line import lay_out_plainly

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
    expected = _reference(operator, given, arguments.dtype)
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
    random: Any = np.random.default_rng(0)
    kind = arguments.dtype
    arrays: list[Array] = []
    for param, like in zip(module.params, arguments.arrays, strict=True):
        array: Array = random.standard_normal(like.shape)
        if not kind.is_float:
            array = random.integers(0, 2 if kind.bits < 8 else 8, like.shape)
        elif param.privilege == "w":
            array = np.full(like.shape, np.nan)
        arrays.append(array.astype(kind.numpy))
    return arrays


def _reference(operator: Operator, given: list[Array], dtype: DType) -> list[Array]:
    """What the tasks make of the arrays in NumPy; those of 16 bits are computed in f32."""
    wide = F32.numpy if dtype in (F16, BF16) else dtype.numpy
    arrays = [array.astype(wide) for array in given]
    run_task(operator.entry, arrays, tunables_of(operator))
    return arrays


def error_of(found: Array, expected: Array) -> float:
    """The largest difference, relative to one more than the largest number; NaN is infinite."""
    if expected.size == 0:
        return 0.0
    difference = np.abs(found.astype("f8") - expected.astype("f8")).max()
    error = float(difference / (1 + np.abs(expected.astype("f8")).max()))
    return error if error == error else float("inf")


def tolerance_of(dtype: DType) -> float:
    """The error that rounding explains."""
    if not dtype.is_float:
        return 0.0
    return {"f16": 2e-2, "bf16": 1e-1, "f32": 2e-5}.get(dtype.name, 1e-12)


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
