"""What a candidate does, counted in its flat module: all that its time is predicted from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from eas.septran.flat.affine import Affine
from eas.septran.flat.counts import count
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    Fill,
    For,
    Map,
    Mma,
    Module,
    ParallelFor,
    Param,
    Reduce,
    Start,
    Stmt,
    View,
    body_of,
    bytes_of,
    operands_of,
    walk,
)
from eas.support.records import frozen


@frozen
class Action:
    """A statement of a program, in its first trip: how often, how large, and in which memories.

    `extents` are the last two of what it writes, and for a product the depth. `memories` are those
    of what it writes and of what it reads. `detail` is the primitive of a product, the axis of a
    reduction, or the operations for each element.
    """

    kind: str
    times: int
    extents: tuple[int, ...]
    memories: tuple[str, ...]
    detail: str | int = ""

    @property
    def primitive(self) -> str:
        return str(self.detail).partition(" ")[0]


@frozen
class Work:
    """A kernel: its programs, what all of them do, and what one of them allocates."""

    dtype: str
    arrays: int  # bytes of its arguments
    programs: int
    counts: Mapping[str, int]
    touched: Mapping[str, int]  # bytes by memory
    moved: Mapping[str, int]  # bytes by the memories that they go between
    allocated: Mapping[str, int]  # bytes by memory
    slots: int
    actions: tuple[Action, ...]

    @property
    def products(self) -> list[Action]:
        return [each for each in self.actions if each.kind == "mma"]


_COUNTS = (
    "copies", "waits", "barriers", "mmas", "flops", "maps", "reductions", "fills", "calls",
    "elements",
)  # fmt: skip


def work_of(module: Module, sizes: Mapping[str, int]) -> tuple[Work, ...]:
    """What each kernel of a module does."""
    kernels = {kernel.name: kernel for kernel in module.kernels}
    found: list[Work] = []
    for row in count(module, sizes):
        if row.loop:
            continue
        kernel, total = kernels[row.kernel], row.total
        numbers = {name: getattr(total, name) for name in _COUNTS if getattr(total, name)}
        allocs = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Alloc)]
        found.append(
            Work(
                kernel.params[0].dtype.name if kernel.params else "f32",
                sum(_bytes(each, sizes) for each in kernel.params),
                max(row.runs, 1),
                numbers,
                dict(total.touched),
                dict(total.moved),
                _allocated(allocs),
                max((each.slots for each in allocs), default=1),
                tuple(_actions(kernel.body, 1, _Zeros(sizes))),
            )
        )
    return tuple(found)


def _bytes(param: Param, sizes: Mapping[str, int]) -> int:
    return prod(each.evaluate(sizes) for each in param.shape) * bytes_of(param.dtype)


def _allocated(allocs: Sequence[Alloc]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in allocs:
        found[each.memory] = found.get(each.memory, 0) + each.bytes
    return found


class _Zeros(dict[str, int]):
    """The values of variables in the first trip."""

    def __missing__(self, name: str) -> int:
        return 0


def _actions(body: Sequence[Stmt], times: int, values: _Zeros) -> Iterator[Action]:
    for stmt in body:
        match stmt:
            case For() | ParallelFor():
                trips = stmt.extent.evaluate(values)
                yield from _actions(stmt.body, times * max(trips, 0), values)
            case Copy() | Start():
                yield _action("copy", times, stmt.target, (stmt.source,), values)
            case Fill():
                yield _action("fill", times, stmt.target, (), values)
            case Map():
                yield _action("map", times, stmt.target, (), values, _operations(stmt.value))
            case Reduce():
                yield _action("reduce", times, stmt.source, (stmt.target,), values, stmt.axis)
            case Mma():
                factors = (stmt.left, stmt.right)
                detail = f"{stmt.primitive} {stmt.transposed}".rstrip()
                depth = stmt.depth
                yield _action("mma", times, stmt.target, factors, values, detail, (depth,))
            case _:
                yield from _actions(body_of(stmt), times, values)


def _action(
    kind: str,
    times: int,
    target: View,
    others: Sequence[View],
    values: _Zeros,
    detail: str | int = "",
    more: tuple[Affine, ...] = (),
) -> Action:
    extents = [each.evaluate(values) for each in target.shape] or [1]
    rows = prod(extents[:-1])
    last = [each.evaluate(values) for each in more]
    memories = (target.memory, *(each.memory for each in others))
    return Action(kind, times, (rows, extents[-1], *last), memories, detail)


def _operations(expr: Any) -> int:
    inner = operands_of(expr)
    return bool(inner) + sum(map(_operations, inner))


def to_data(work: Sequence[Work]) -> list[Any]:
    """Lists and numbers, for a file."""
    return [
        [
            each.dtype, each.arrays, each.programs, each.counts, each.touched, each.moved,
            each.allocated, each.slots,
            [[a.kind, a.times, a.extents, a.memories, a.detail] for a in each.actions],
        ]
        for each in work
    ]  # fmt: skip


def from_data(data: Sequence[Any]) -> tuple[Work, ...]:
    """The inverse of `to_data`."""
    return tuple(map(_work_from, data))


def _work_from(data: Sequence[Any]) -> Work:
    dtype, arrays, programs, counts, touched, moved, allocated, slots, rows = data
    actions = tuple(Action(k, times, tuple(e), tuple(m), d) for k, times, e, m, d in rows)
    return Work(dtype, arrays, programs, counts, touched, moved, allocated, slots, actions)
