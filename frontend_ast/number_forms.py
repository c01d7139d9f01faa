"""What operands are made of: numbers, in a form that is known at compile time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from eas.frontend_ast.operands import (
    Array,
    ArrayPointer,
    Closure,
    Const,
    LocalArray,
    Method,
    Num,
    Operand,
    Range,
    RecordMethod,
    Text,
    Tuple,
)
from eas.frontend_ast.promote import Number, is_numeric
from eas.frontend_ast.record_values import field_names, is_record
from eas.frontend_ast.source.parameters import is_same
from eas.support.records import replace


def parts_of(operand: Operand) -> tuple[Operand, ...]:
    """The operands inside of an operand; none if it is a number or has nothing to do with any."""
    match operand:
        case Tuple(items=items) | LocalArray(items=items):
            return items
        case ArrayPointer(offset=offset):
            return (offset,)
        case Range(start=start, stop=stop, step=step):
            return start, stop, step
        case Closure(defaults=defaults, captured=captured):
            return *defaults.values(), *(captured or {}).values()
        case Method(receiver=receiver) | RecordMethod(receiver=receiver):
            return (receiver,)
        case Text(parts=parts):
            return tuple(Num(part) for part in parts if not isinstance(part, str))
        case _:
            return ()


def with_parts(operand: Operand, parts: Sequence[Operand]) -> Operand:
    """The operand with other operands in the places of its own."""
    match operand:
        case Tuple(make=make, fields=fields):
            return Tuple(tuple(parts), make, fields)
        case LocalArray():
            return replace(operand, items=tuple(part for part in parts if isinstance(part, Num)))
        case ArrayPointer(array=array):
            return ArrayPointer(array, as_number(parts[0]))
        case Range():
            start, stop, step = map(as_number, parts)
            return Range(start, stop, step)
        case Closure(node=node, frame=frame, defaults=defaults, captured=captured):
            values = iter(parts)
            defaults = dict(zip(defaults, values, strict=False))
            return Closure(
                node, frame, defaults, captured and dict(zip(captured, values, strict=True))
            )
        case Method() | RecordMethod():
            return replace(operand, receiver=parts[0])
        case Text(parts=texts):
            values = (part.value for part in parts if isinstance(part, Num))
            return Text(tuple(t if isinstance(t, str) else next(values) for t in texts))
        case _:
            return operand


def is_same_kind(a: Operand, b: Operand) -> bool:
    """Whether two operands have the same form, whatever their parts are."""
    match a, b:
        case Tuple(), Tuple():
            return len(a.items) == len(b.items) and a.make is b.make
        case LocalArray(), LocalArray():
            return (a.name, a.dtype, len(a.items)) == (b.name, b.dtype, len(b.items))
        case ArrayPointer(), ArrayPointer():
            return points_into_one_array(a, b)
        case Range(), Range():
            return True
        case Closure(), Closure():
            return a.node is b.node and (a.frame is b.frame or _differ_in_kept_values(a, b))
        case Method(), Method():
            return a.name == b.name
        case RecordMethod(), RecordMethod():
            return a.function is b.function
        case Text(), Text():
            return _texts(a) == _texts(b)
        case _:
            return a is b or is_same_constant(a, b)


def as_tuple(operand: Operand) -> Operand:
    """A tuple, list or record from outside, as one whose parts can be joined with others."""
    if not isinstance(operand, Const):
        return operand
    value: Any = operand.value
    make = cast(type[object], type(value))
    if make in (tuple, list):
        return Tuple(tuple(Const(item) for item in value), make)
    if is_record(make):
        fields = field_names(make)
        return Tuple(tuple(Const(getattr(value, name)) for name in fields), make, fields)
    return operand


def _differ_in_kept_values(a: Closure, b: Closure) -> bool:
    """Whether two calls of one function gave them, so that all else that they see is the same."""
    if a.captured is None or b.captured is None or a.captured.keys() != b.captured.keys():
        return False
    return a.frame.parent is b.frame.parent and a.frame.cells == b.frame.cells


def _texts(text: Text) -> list[str | None]:
    return [part if isinstance(part, str) else None for part in text.parts]


def has_same_form(a: Operand, b: Operand) -> bool:
    """Whether two operands differ in their numbers only."""
    if is_number(a) or is_number(b):
        return is_number(a) and is_number(b)
    return is_same_kind(a, b) and all(map(has_same_form, parts_of(a), parts_of(b)))


def leaves(operand: Operand) -> Iterator[Number]:
    """The numbers that an operand is made of."""
    if is_number(operand):
        yield as_number(operand)
    for part in parts_of(operand):
        yield from leaves(part)


def rebuild(operand: Operand, numbers: Iterator[Num]) -> Operand:
    """The operand with other numbers in the places of its own."""
    if is_number(operand):
        return next(numbers)
    return with_parts(operand, [rebuild(part, numbers) for part in parts_of(operand)])


def any_operand(operand: Operand) -> Operand:
    """Something that can be joined with the operand, for a path on which it is never used."""
    if isinstance(operand, Num):
        dtype = operand.dtype
        return Const(False if dtype.is_bool else 0.0 if dtype.is_float else 0)
    return with_parts(operand, [any_operand(part) for part in parts_of(operand)])


def points_into_one_array(a: Operand, b: Operand) -> bool:
    if not isinstance(a, Array | ArrayPointer) or not isinstance(b, Array | ArrayPointer):
        return False
    return as_array_pointer(a).array.pointer is as_array_pointer(b).array.pointer


def as_array_pointer(operand: Operand) -> ArrayPointer:
    assert isinstance(operand, Array | ArrayPointer)
    return operand if isinstance(operand, ArrayPointer) else ArrayPointer(operand, Const(0))


def is_same_constant(a: Operand, b: Operand) -> bool:
    return isinstance(a, Const) and isinstance(b, Const) and is_same(a.value, b.value)


def is_number(operand: Operand) -> bool:
    return isinstance(operand, Num) or (isinstance(operand, Const) and is_numeric(operand.value))


def as_number(operand: Operand) -> Number:
    assert isinstance(operand, Const | Num)
    return operand
