"""The lane model taken at its word: a function run as scalar code, once for every lane."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eas.ir.nodes import (
    Break,
    Compute,
    Constant,
    Continue,
    For,
    Function,
    If,
    Op,
    Print,
    Region,
    Store,
    Value,
    While,
    operands_of,
)
from eas.ir.ops.record import Array


class _Exit(Exception):
    """A `break` or `continue` on its way to its loop."""

    def __init__(self, kind: type[Break | Continue], values: list[Array]) -> None:
        self.kind = kind
        self.values = values


@dataclass
class Lane:
    """One lane of one program. `stored` is by pointer id, `printed` are the lines in order."""

    program: int
    lane: int
    values: dict[int, Array] = field(default_factory=dict[int, Array])
    stored: dict[int, int] = field(default_factory=dict[int, int])
    printed: list[str] = field(default_factory=list[str])

    def run(self, function: Function) -> None:
        with np.errstate(all="ignore"):
            self._region(function.body, [])

    def _read(self, values: tuple[Value, ...]) -> list[Array]:
        return [self.values[v.id] for v in values]

    def _bind(self, values: tuple[Value, ...], arrays: list[Array]) -> None:
        self.values.update(zip((v.id for v in values), arrays, strict=True))

    def _region(self, region: Region, arguments: list[Array]) -> list[Array]:
        """Runs a region and gives the operands of its terminator."""
        self._bind(region.args, arguments)
        for op in region.ops[:-1]:
            self._op(op)
        end = region.terminator
        found = self._read(operands_of(end))
        if isinstance(end, Break | Continue):
            raise _Exit(type(end), found)
        return found

    def _op(self, op: Op) -> None:
        match op:
            case Constant():
                self.values[op.result.id] = np.array([op.value], op.result.ty.dtype.numpy)
            case Compute():
                self.values[op.result.id] = self._compute(op)
            case Store():
                self.stored[op.pointer.id] = int(self.values[op.value.id][0])
            case Print():
                shown = (p if isinstance(p, str) else str(self.values[p.id][0]) for p in op.parts)
                self.printed.append("".join(shown))
            case If():
                taken = op.then if self.values[op.condition.id][0] else op.orelse
                self._bind(op.results, self._region(taken, []))
            case For() | While():
                self._bind(op.results, self._loop(op))
            case _:
                raise NotImplementedError(type(op).__name__)

    def _compute(self, op: Compute) -> Array:
        operands = self._read(op.operands)
        match op.op.name:
            case "program_id":
                return np.array([self.program], np.int32)
            case "arange":
                return np.array([self.lane], np.int32)
            case "splat":
                return operands[0]
            case _:
                return op.op.meaning(*operands, **dict(op.attrs))

    def _loop(self, op: For | While) -> list[Array]:
        carried = self._read(op.inits)
        try:
            if isinstance(op, For):
                for counter in range(
                    *(int(v[0]) for v in self._read((op.start, op.stop, op.step)))
                ):
                    carried = self._trip(op.body, [np.array([counter], np.int32), *carried])
            else:
                while True:
                    (condition, *carried) = self._region(op.test, carried)
                    if not condition[0]:
                        break
                    carried = self._trip(op.body, carried)
        except _Exit as broken:
            return broken.values
        return self._region(op.orelse, carried)

    def _trip(self, body: Region, arguments: list[Array]) -> list[Array]:
        try:
            return self._region(body, arguments)
        except _Exit as way:
            if way.kind is Continue:
                return way.values
            raise
