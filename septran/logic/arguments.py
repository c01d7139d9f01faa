"""The arrays that a task is called with: mistakes are said by the name of the parameter."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from eas.ir.types import DTYPES, DType, from_numpy
from eas.septran.logic.errors import LogicError, suggest
from eas.septran.logic.launches import calls_of, tasks_below, texts_of
from eas.septran.logic.size_names import is_sum, names_in_size, plain_names, value_of
from eas.septran.logic.tasks import Task
from eas.support.diagnostics import Diagnostic

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


class ArgumentError(LogicError, TypeError, ValueError):
    """Arguments that a task does not take: also what NumPy raises for such mistakes."""


def argument_error(
    code: str, task: Task, parameter: str, message: str, *notes: str, help: Sequence[str] = ()
) -> ArgumentError:
    """A mistake in the argument for a parameter of the task that is called."""
    loc = task.place_of(parameter)
    return ArgumentError([Diagnostic(code, message, loc, notes=notes, help=tuple(help))])


def check_count(task: Task, count: int) -> None:
    """Raise an error if there is not one argument for each parameter (S901)."""
    names = task.parameters
    if len(names) != count:
        message = f"`{task.function_name}` takes {', '.join(names)}: {_arguments(count)} given"
        raise argument_error("S901", task, names[0] if names else "", message)


def check_tunables(task: Task, given: Mapping[str, object]) -> None:
    """Raise an error for a value that is no number, or that no task asks for (S901)."""
    below = (task, *tasks_below(task))
    named = [v for each in below for v in each.outer_names.values() if isinstance(v, Task)]
    tasks = list(dict.fromkeys((*below, *named)))
    asked = {name for each in tasks for name in texts_of(each, "tunable")}
    are_all = all(
        any(isinstance(arg, ast.Constant) for arg in call.args)
        for each in tasks
        for call in calls_of(each, "tunable")
    )
    for name, value in given.items():
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            message = f"the tunable `{name}` is {value!r}, which is no integer"
            raise argument_error("S901", task, "", message)
        if are_all and name not in asked and not name.startswith("block_size"):
            message = f"`{task.function_name}` asks for no tunable `{name}`"
            raise argument_error("S901", task, "", message, help=suggest(name, asked))


def _arguments(count: int) -> str:
    return "1 argument is" if count == 1 else f"{count} arguments are"


def dtype_of(task: Task, parameter: str, value: object) -> DType:
    """What an array holds; an error if it is none, or holds what no task computes with (S901)."""
    if not isinstance(value, np.ndarray):
        message = f"an operator takes NumPy arrays, not {type(value).__name__}: `{parameter}`"
        raise argument_error("S901", task, parameter, message)
    array = cast(Array, value)
    dtype = from_numpy(array.dtype)
    if dtype is None:
        message = f"`{parameter}` holds {array.dtype}, which no task computes with"
        help = [f"arrays hold {', '.join(DTYPES)}, in the byte order of this computer"]
        raise argument_error("S901", task, parameter, message, help=help)
    return dtype


def sizes_of(
    task: Task, shapes: Mapping[str, Shape], names: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """The sizes of the arguments by their names (S902).

    Axes of one name have one size, and an axis that is a sum has that of the sum.
    """
    sizes: dict[str, int] = {}
    owners: dict[str, str] = {}
    for parameter, shape in shapes.items():
        for size, extent in zip(names[parameter], shape, strict=True):
            owner = owners.setdefault(size, parameter)
            if sizes.setdefault(size, extent) != extent:
                message = f"`{size}` is {sizes[size]} by `{owner}`, and {extent} by `{parameter}`"
                notes = [_described(each, shapes, names) for each in (owner, parameter)]
                raise argument_error("S902", task, parameter, message, *dict.fromkeys(notes))
    plain = {name: sizes[name] for name in plain_names(sizes)}
    for size in filter(is_sum, sizes):
        if value_of(size, plain) != sizes[size]:
            parameter = owners[size]
            given = ", ".join(f"{name}={plain[name]}" for name in names_in_size(size))
            message = (
                f"`{size}` is {sizes[size]} by `{parameter}`, and {value_of(size, plain)} by the"
                f" others: {given}"
            )
            raise argument_error(
                "S902", task, parameter, message, _described(parameter, shapes, names)
            )
    return plain


def _described(
    parameter: str, shapes: Mapping[str, Shape], names: Mapping[str, Sequence[str]]
) -> str:
    return f"`{parameter}[{', '.join(names[parameter])}]` has the shape {shapes[parameter]}"


def check_ranks(
    task: Task, shapes: Mapping[str, Shape], declared: Mapping[str, Sequence[str]]
) -> None:
    """Raise an error if an array has not the axes that `shapes=` declares (S902)."""
    for parameter, names in declared.items():
        shape = shapes.get(parameter, ())
        if len(shape) != len(names):
            axes = "axis" if len(shape) == 1 else "axes"
            wanted = f"{parameter}[{', '.join(names)}]"
            message = f"`{parameter}` has {len(shape)} {axes}, and `{wanted}` is declared"
            note = f"the array has the shape {shape}"
            raise argument_error("S902", task, parameter, message, note)


def check_written(task: Task, arrays: Mapping[str, Array], written: Sequence[str]) -> None:
    """Raise an error if an array that is written cannot be, or shares memory with another one.

    What would be read and written through two arrays depends on the mapping (S903).
    """
    for name in written:
        array = arrays[name]
        if not array.flags.writeable:
            message = f"`{name}` is written, and the array is read-only"
            raise argument_error("S901", task, name, message)
        for other, second in arrays.items():
            if other != name and _share_memory(array, second):
                message = f"`{name}` is written, and shares memory with `{other}`"
                help = [f"pass a copy: `{other}.copy()`"]
                raise argument_error("S903", task, name, message, help=help)


def _share_memory(first: Array, second: Array) -> bool:
    if not np.may_share_memory(first, second):
        return False
    try:
        work: Any = 100_000  # a bound: the exact answer can take very long
        return np.shares_memory(first, second, max_work=work)
    except np.exceptions.TooHardError:
        return True
