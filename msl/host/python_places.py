"""The Python line of an access: one line of the text may come from several lines of Python."""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import (
    Alloc,
    Atomic,
    Function,
    Load,
    Op,
    Store,
    Value,
    operands_of,
    regions_of,
    results_of,
    walk,
)
from eas.msl.kernel import MslKernel
from eas.support.location import Loc

Access = Load | Store | Atomic


def access_loc(
    loc: Loc, kernel: MslKernel, function: Function, buffer: int, is_write: bool | None
) -> Loc:
    """The source position of an access to a buffer, or to threadgroup memory if `buffer` is -1.

    `loc` is the position that the line of the text has. A value with one use is written inside the
    line that uses it, and so is a branch of one statement. So the access may be among the operands
    or in the body of the op at `loc`.
    """
    pointers = _pointers(kernel, function, buffer)
    held = [op for op in _held(function, loc) if _is_access(op, pointers, is_write)]
    if not held or any(op.loc.line == loc.line for op in held):
        return loc
    return min(held, key=lambda op: abs(op.loc.line - loc.line)).loc


def _pointers(kernel: MslKernel, function: Function, buffer: int) -> set[Value]:
    if buffer < 0:
        return {op.result for op in walk(function.body) if isinstance(op, Alloc)}
    bound = [each for each in kernel.buffers if each.index == buffer and each.kind == "array"]
    return {function.params[each.parameter].value for each in bound}


def _is_access(op: Op, pointers: set[Value], is_write: bool | None) -> bool:
    if not isinstance(op, Access) or op.pointer not in pointers:
        return False
    return is_write is None or isinstance(op, Atomic) or isinstance(op, Store) == is_write


def _held(function: Function, loc: Loc) -> Iterator[Op]:
    """The ops of a line, those that compute their operands, and those in their bodies."""
    makers = {value: op for op in walk(function.body) for value in results_of(op)}
    todo = [
        op for op in walk(function.body) if (op.loc.source, op.loc.line) == (loc.source, loc.line)
    ]
    seen: set[int] = set()
    while todo:
        op = todo.pop()
        if op.number in seen:
            continue
        seen.add(op.number)
        yield op
        todo += [makers[value] for value in operands_of(op) if value in makers]
        todo += [inner for region in regions_of(op) for inner in region.ops]
