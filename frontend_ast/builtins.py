"""Python's own functions, where a kernel calls them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any
from typing import cast as cast_type

import numpy as np

from eas.frontend_ast.arithmetic import (
    binary,
    combine_bools,
    failed,
    items_of,
    known_range,
    length_of,
    power,
    unknown_range,
)
from eas.frontend_ast.comparison import compare
from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.operands import (
    EMPTY,
    FALSE,
    NONE,
    ZERO,
    Array,
    Const,
    Generated,
    LocalArray,
    Num,
    Operand,
    Range,
    Text,
    Tuple,
)
from eas.frontend_ast.operator_functions import OPERATORS
from eas.frontend_ast.operator_methods import ABSOLUTE
from eas.frontend_ast.promote import (
    Number,
    broadcast,
    cast,
    common_shape,
    describe,
    number,
    promote,
    to_bool,
)
from eas.frontend_ast.record_operators import apply_to_record
from eas.frontend_ast.record_values import is_record, replace_fields
from eas.frontend_ast.unrolled import static_items, use_up
from eas.ir.nodes import Print, Value
from eas.ir.types import F32, I32
from eas.support.diagnostics import Fix
from eas.support.records import replace

SPACE = Const(" ")


def _range(ctx: Context, first: Operand, *rest: Operand) -> Operand:
    if len(rest) > 2:
        raise ctx.refusal(
            "E0427", f"`range` takes 3 arguments, {len(rest) + 1} are given", at=rest[2]
        )
    numbers = [number(ctx, o, "a bound of a range") for o in (first, *rest)]
    for each in numbers:
        if isinstance(each, Const) and not isinstance(each.value, int | np.integer):
            raise ctx.refusal("E0403", f"a range counts ints, this is {describe(each)}", at=each)
    if len(numbers) == 1:
        numbers = [Const(0), *numbers]
    start, stop = numbers[0], numbers[1]
    step: Number = numbers[2] if len(numbers) == 3 else Const(1)
    if isinstance(step, Const) and step.value == 0:
        raise ctx.refusal("E0420", "the step of a range must not be zero", at=step)
    return Range(start, stop, step)


def _len(ctx: Context, value: Operand) -> Operand:
    if (known := known_range(value)) is not None:
        return Const(length_of(known))
    items = items_of(value)
    if items is not None:
        return Const(len(items))
    if isinstance(value, Num) and value.shape:
        return Const(value.shape[0])
    if isinstance(value, LocalArray):
        return Const(len(value.items))
    if isinstance(value, Range):
        raise unknown_range(ctx, value)
    if isinstance(value, Array):
        suggestion = f"use `{value.name}.shape[0]`"
        raise ctx.refusal("E0421", f"`len` of {describe(value)}", at=value, help=suggestion)
    if isinstance(value, Const) and hasattr(value.value, "__len__"):
        sized: Any = value.value
        return Const(len(sized))
    raise ctx.refusal("E0421", f"{describe(value)} has no length", at=value)


def _abs(ctx: Context, value: Operand) -> Operand:
    if (applied := apply_to_record(ctx, ABSOLUTE, value)) is not None:
        return applied
    num = number(ctx, value)
    if isinstance(num, Const):
        constant: Any = num.value
        return Const(abs(constant))
    [a] = promote(ctx, [num])
    return Num(ctx.compute("abs", a.value).value, num.weak)


def _extreme(name: str, operation: ast.cmpop) -> Callable[..., Operand]:
    def handler(ctx: Context, *values: Operand) -> Operand:
        """The first that no later one beats, as Python's `min` and `max` choose."""
        items = values
        if len(values) == 1:
            _not_a_block(ctx, values[0], name)
            items = use_up(ctx, values[0])
        if not items:
            raise ctx.refusal("E0413", f"`{name}` of nothing")
        best = items[0]
        for item in items[1:]:
            best = _better(ctx, operation, best, item)
        return best

    return handler


def _better(ctx: Context, operation: ast.cmpop, best: Operand, item: Operand) -> Operand:
    wins = to_bool(ctx, compare(ctx, operation, item, best))
    if isinstance(wins, Const):
        return item if wins.value else best
    a, b = promote(ctx, [number(ctx, item), number(ctx, best)])
    shape = common_shape(ctx, [wins, a])
    chosen = [broadcast(ctx, n, shape).value for n in (wins, a, b)]
    return Num(ctx.compute("select", *chosen).value, a.weak)


def _int(ctx: Context, value: Operand) -> Operand:
    """`int(x)` cuts a float's fraction off."""
    num = number(ctx, value)
    if isinstance(num, Const):
        return _constant(ctx, int, num)
    return num if num.dtype.is_int else cast(ctx, num, I32)


def _float(ctx: Context, value: Operand) -> Operand:
    if isinstance(value, Const):
        return _constant(ctx, float, value)
    num = number(ctx, value)
    assert isinstance(num, Num)
    return num if num.dtype.is_float else cast(ctx, num, F32)


def _bool(ctx: Context, value: Operand) -> Operand:
    return to_bool(ctx, value)


def _constant(ctx: Context, make: Callable[..., object], value: Const, *more: Const) -> Const:
    try:
        return Const(make(value.value, *(each.value for each in more)))
    except (ValueError, OverflowError, TypeError) as error:
        raise failed(ctx, f"`{make.__name__}` of {describe(value)}", error) from error


def _round(ctx: Context, value: Operand, ndigits: Operand = NONE) -> Operand:
    """`round(x)` gives an int, halves to even."""
    num = number(ctx, value)
    if isinstance(num, Const) and isinstance(ndigits, Const):
        return _constant(ctx, round, num, ndigits)
    if isinstance(num, Const) or ndigits != NONE:
        raise ctx.refusal(
            "E0427",
            "`round` takes no digits in a kernel",
            at=ndigits,
            help="for two digits: `mk.round(x * 100.0) / 100.0`",
        )
    if not num.dtype.is_float:
        return num
    return cast(ctx, ctx.compute("round", num.value), I32)


def _divmod(ctx: Context, a: Operand, b: Operand) -> Operand:
    return Tuple((binary(ctx, ast.FloorDiv(), a, b), binary(ctx, ast.Mod(), a, b)))


def _pow(ctx: Context, a: Operand, b: Operand) -> Operand:
    if isinstance(a, Const) and isinstance(b, Const):
        return binary(ctx, ast.Pow(), a, b)
    return power(ctx, number(ctx, a), number(ctx, b))


def _sum(ctx: Context, values: Operand, start: Operand = ZERO) -> Operand:
    """`sum` of a tuple; of a block it is `mk.sum`."""
    _not_a_block(ctx, values, "sum")
    total = start
    for item in use_up(ctx, values):
        total = binary(ctx, ast.Add(), total, item)
    return total


def _not_a_block(ctx: Context, values: Operand, name: str) -> None:
    if isinstance(values, Num) and values.shape:
        raise ctx.refusal(
            "E0422",
            f"Python's `{name}` cannot look into a block",
            at=values,
            label=describe(values),
            help=_of_kernels(ctx, name),
        )


def _of_kernels(ctx: Context, name: str) -> Fix | str:
    """The function of `mk` instead of Python's; this is the place of the call."""
    help, loc = f"use `mk.{name}`", ctx.loc
    called = replace(loc, end_line=loc.line, end_column=loc.column + len(name))
    return rewrite(help, called, f"mk.{name}") if ctx.written_at(called) == name else help


def _quantifier(name: str, decides: bool) -> Callable[..., Operand]:
    def handler(ctx: Context, values: Operand) -> Operand:
        _not_a_block(ctx, values, name)
        result: Operand = Const(not decides)
        for item in static_items(ctx, values):
            truth = to_bool(ctx, item)
            result = _either(ctx, decides, result, truth)
        return result

    return handler


def _either(ctx: Context, decides: bool, a: Operand, b: Operand) -> Operand:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return one if bool(one.value) is decides else other
    return combine_bools(ctx, "or" if decides else "and", a, b)


def _tuple(ctx: Context, values: Operand = EMPTY) -> Operand:
    return Tuple(use_up(ctx, values))


def _list(ctx: Context, values: Operand = EMPTY) -> Operand:
    return Tuple(use_up(ctx, values), list)


def _zip(ctx: Context, *values: Operand, strict: Operand = FALSE) -> Operand:
    columns = [static_items(ctx, value) for value in values]
    if isinstance(strict, Const) and strict.value and len({len(c) for c in columns}) > 1:
        lengths = " and ".join(str(len(c)) for c in columns)
        raise ctx.refusal("E0701", f"`zip` with `strict` of sequences of {lengths} items")
    return Generated(tuple(Tuple(row) for row in zip(*columns, strict=False)), is_lazy=False)


def _enumerate(ctx: Context, values: Operand, start: Operand = ZERO) -> Operand:
    if not isinstance(start, Const) or type(start.value) is not int:
        raise ctx.refusal(
            "E0705", "the start of `enumerate` must be known at compile time", at=start
        )
    items = static_items(ctx, values)
    pairs = (Tuple((Const(i), item)) for i, item in enumerate(items, start.value))
    return Generated(tuple(pairs), is_lazy=False)


def _reversed(ctx: Context, values: Operand) -> Operand:
    return Generated(static_items(ctx, values)[::-1], is_lazy=False)


def _isinstance(ctx: Context, value: Operand, kind: Operand) -> Operand:
    if isinstance(value, Const) and isinstance(kind, Const):
        wanted: Any = kind.value
        return Const(isinstance(value.value, wanted))
    if isinstance(value, Tuple) and isinstance(kind, Const):
        classes: Any = kind.value
        return Const(issubclass(value.make, classes))
    if isinstance(value, Num) and isinstance(kind, Const) and _is_for_records(kind.value):
        return Const(False)
    raise ctx.refusal(
        "E0414",
        "`isinstance` is answered by Python, which knows constants only",
        at=value,
        label=f"{describe(value)}, known at run time only",
        help="compare its dtype: `x.dtype == mk.f32`",
    )


def _is_for_records(kind: object) -> bool:
    """Whether no number is of a class, or of any in a tuple."""
    classes = cast_type(tuple[object, ...], kind if isinstance(kind, tuple) else (kind,))
    return all(isinstance(each, type) and is_record(each) for each in classes)


def lower_print(ctx: Context, *values: Operand, sep: Operand = SPACE) -> Operand:
    """`print`: one line for each program, or for each lane if a part is a block."""
    if not isinstance(sep, Const) or not isinstance(sep.value, str):
        raise ctx.refusal("E0705", "`sep` of `print` must be a constant string", at=sep)
    parts: list[str | Value] = []
    for place, value in enumerate(values):
        if place:
            parts.append(sep.value)
        parts += message_parts(ctx, value)
    ctx.build.emit(Print(tuple(_spread(ctx, _merge_texts(parts))), ctx.loc))
    return Const(None)


def message_parts(ctx: Context, value: Operand) -> list[str | Value]:
    """A value as it is printed: text for what is known, a value for what is not."""
    if isinstance(value, Num):
        return [value.value]
    if isinstance(value, Text):
        return list(value.parts)
    if isinstance(value, Tuple):
        return _tuple_parts(ctx, value)
    if isinstance(value, Const):
        return [str(value.value)]
    raise ctx.refusal("E0423", f"{describe(value)} cannot be printed", at=value)


def _tuple_parts(ctx: Context, value: Tuple) -> list[str | Value]:
    name = value.make.__name__ if value.fields else ""
    start, end = "[]" if value.make is list else (f"{name}(", ")")
    parts: list[str | Value] = [start]
    for place, item in enumerate(value.items):
        parts += [", "] if place else []
        parts += [f"{value.fields[place]}="] if name else []
        if isinstance(item, Const) and isinstance(item.value, str):
            parts.append(repr(item.value))
        else:
            parts += message_parts(ctx, item)
    return [*parts, ",)" if len(value.items) == 1 and value.make is tuple else end]


def _merge_texts(parts: Sequence[str | Value]) -> list[str | Value]:
    merged: list[str | Value] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def _spread(ctx: Context, parts: Sequence[str | Value]) -> list[str | Value]:
    """The parts in one shape: below a split each lane that gets here prints."""
    values = [Num(part) for part in parts if isinstance(part, Value)]
    shape = ctx.cover(common_shape(ctx, values), ctx.split_shape())
    return [
        part if isinstance(part, str) else broadcast(ctx, Num(part), shape).value for part in parts
    ]


BUILTINS: dict[object, Callable[..., Operand]] = {
    range: _range,
    len: _len,
    abs: _abs,
    min: _extreme("min", ast.Lt()),
    max: _extreme("max", ast.Gt()),
    int: _int,
    float: _float,
    bool: _bool,
    round: _round,
    divmod: _divmod,
    pow: _pow,
    sum: _sum,
    any: _quantifier("any", True),
    all: _quantifier("all", False),
    tuple: _tuple,
    list: _list,
    dataclasses.replace: replace_fields,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    isinstance: _isinstance,
    print: lower_print,
    **OPERATORS,
}
