"""Sizes and dtypes from the command line, as arrays that have a shape and take no memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eas.ir.types import DTYPES, DType
from eas.septran.files.mapping import Instance
from eas.septran.logic.dimensions import default_sizes
from eas.septran.logic.size_names import is_sum, names_in_size, plain_names, value_of
from eas.septran.operators import Operator
from eas.support.close_names import close_matches
from eas.support.command_line import UsageError
from eas.support.records import frozen

Array = np.ndarray[Any, Any]
Shapes = Mapping[str, tuple[int, ...]]

SMALLEST, LARGEST = 64, 65536  # what is assumed of a size that nobody gives
_SHAPE = re.compile(r"\s*(\w+)\s*=\s*(\d+(?:\s*x\s*\d+)*)\s*")


@frozen(eq=False)
class Arguments:
    """An array for each parameter, all sizes by name, and the sizes that were not given."""

    arrays: tuple[Array, ...]
    dtype: DType
    sizes: Mapping[str, int]
    assumed: tuple[str, ...]

    @property
    def note(self) -> str:
        """Which sizes nobody gave; empty if none."""
        if not self.assumed:
            return ""
        return f"not given, so assumed: {print_sizes({n: self.sizes[n] for n in self.assumed})}"


def print_sizes(sizes: Mapping[str, int]) -> str:
    """Sizes as they are given: `M=512, N=512`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def headline(operator: Operator, arguments: Arguments) -> str:
    """Which operator, on which machine, for which arrays, and what of that nobody asked for."""
    name, machine = operator.entry.function_name, operator.machine.name
    text = f"{name} on {machine}: {print_sizes(arguments.sizes)}, {arguments.dtype}"
    return f"{text}\n{arguments.note}" if arguments.note else text


def make_arguments(operator: Operator, texts: Sequence[str], dtype: str | None) -> Arguments:
    """The arguments of an operator for `--shape` and `--dtype`."""
    given = parse_shapes(texts)
    kind = find_dtype(dtype or operator.machine.default_dtype)
    parameters = operator.entry.parameters
    shapes = {name: shape for name, shape in given.items() if name in parameters}
    names = operator.size_names({name: len(shape) for name, shape in shapes.items()})
    sizes = _sizes(names, shapes, given)
    known = plain_names(each for axes in names.values() for each in axes)
    _solve_sums(sizes)
    assumed = tuple(name for name in known if name not in sizes)
    default = _default(operator)
    sums = {size: extent for size, extent in sizes.items() if is_sum(size)}
    defaults = {**dict.fromkeys(known, default), **default_sizes(operator.entry)}
    sizes = {name: sizes.get(name, defaults[name]) for name in known}
    for size, extent in sums.items():
        if value_of(size, sizes) != extent:
            raise UsageError(
                f"`{size}` is {extent}, and {value_of(size, sizes)} by the other sizes"
            )
    wanted = {
        name: tuple(max(0, value_of(each, sizes)) for each in names[name]) for name in parameters
    }
    return Arguments(tuple(_array(*each, kind) for each in wanted.items()), kind, sizes, assumed)


def _array(name: str, shape: tuple[int, ...], kind: DType) -> Array:
    try:
        return np.broadcast_to(np.empty((), kind.numpy), shape)
    except ValueError as error:  # more bytes than there are addresses
        text = "x".join(map(str, shape))
        raise UsageError(f"`{name}` of {text} has too many elements") from error


def _solve_sums(sizes: dict[str, int]) -> None:
    """Adds the one name of a sum that is not given, where the sum is: `P` of `P+R-1`."""
    for size in [each for each in sizes if is_sum(each)]:
        open_names = [name for name in names_in_size(size) if name not in sizes]
        if len(open_names) != 1:
            continue
        [name] = open_names
        rest, unit = (value_of(size, {**sizes, name: number}) for number in (0, 1))
        factor = unit - rest
        if factor and (sizes[size] - rest) % factor == 0 and (sizes[size] - rest) // factor >= 0:
            sizes[name] = (sizes[size] - rest) // factor


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """`["M=512,N=512", "A=131x95"]` as numbers by name."""
    found: dict[str, tuple[int, ...]] = {}
    for part in (part for text in texts for part in text.split(",")):
        match = _SHAPE.fullmatch(part)
        if match is None:
            raise UsageError(f"`{part}` is no size: write `M=512` or, for an array, `A=131x95`")
        shape = tuple(map(int, match[2].split("x")))
        if max(shape) >= 2**31:
            raise UsageError(f"`{part}` is no size: it is below 2**31")
        if found.setdefault(match[1], shape) != shape:
            raise UsageError(f"`{match[1]}` is given twice")
    return found


def find_dtype(name: str) -> DType:
    """A dtype by its name."""
    if name in DTYPES:
        return DTYPES[name]
    near = close_matches(name, list(DTYPES))
    hint = f"did you mean `{near[0]}`?" if near else f"there is {', '.join(DTYPES)}"
    raise UsageError(f"there is no dtype `{name}`; {hint}")


def _sizes(names: Mapping[str, tuple[str, ...]], shapes: Shapes, given: Shapes) -> dict[str, int]:
    """The sizes that were given, by name or by the shape of an argument."""
    known = plain_names(each for axes in names.values() for each in axes)
    sizes: dict[str, int] = {}
    for name, shape in given.items():
        if name not in known and name not in shapes:
            near = close_matches(name, known)
            hint = f"did you mean `{near[0]}`?" if near else f"the sizes are {', '.join(known)}"
            raise UsageError(f"`{name}` is no size and no argument; {hint}")
        axes = names[name] if name in shapes else (name,)
        if len(axes) != len(shape):
            raise UsageError(f"`{name}` is one number, not {'x'.join(map(str, shape))}")
        for axis, extent in zip(axes, shape, strict=True):
            if sizes.setdefault(axis, extent) != extent:
                raise UsageError(f"`{axis}` is {sizes[axis]}, and {extent} by `{name}`")
    return sizes


def _default(operator: Operator) -> int:
    """The largest tunable, so that tiles are whole."""
    return min(max([SMALLEST, *tunables_of(operator).values()]), LARGEST)


def tunables_of(operator: Operator) -> dict[str, int]:
    """The tunables of all instances, as far as they are resolved."""
    instances = operator.mapping.task_mappings.values()
    return {
        name: int(value)
        for instance in instances
        if isinstance(instance, Instance)
        for name, value in instance.tunables.items()
        if isinstance(value, int)
    }
