"""Loops over rows: a block of rows that are reduced independently is processed row by row.

A program over several rows becomes a loop over them. The values of one row then stay in registers
or the cache, and the results per row are scalars.
"""

from __future__ import annotations

from eas.ir.builder import Builder
from eas.ir.nodes import Compute, Constant, For, Function, Load, Op, Region, Store, Value, Yield
from eas.ir.passes.dead import remove_dead
from eas.ir.rewrite import builder_for, renumber
from eas.ir.types import I32, Scalar, Shape
from eas.support.records import field, record, replace

_LEAST_COLUMNS = 64


def loop_over_rows(f: Function) -> Function:
    """The function as a loop over its rows, if it computes each row by itself."""
    *ops, last = f.body.ops
    shape = _shape_of_rows(ops)
    if shape is None or not _are_independent(ops):
        return f
    build = builder_for(f)
    build.loc = last.loc
    zero, one, stop = (build.constant(number, I32) for number in (0, 1, shape[0]))
    bounds, build.ops = build.ops, []
    row = build.value(Scalar(I32))
    rows = _Rows(build, shape, row, {op.result.id: op for op in ops if isinstance(op, _MADE)})
    try:
        for op in ops:
            if isinstance(op, Store):
                rows.store(op)
    except _NotByRows:
        return f
    body = Region((row,), (*build.ops, Yield((), last.loc)))
    loop = For(zero, stop, one, (), body, Region((), (Yield((), last.loc),)), (), last.loc)
    before = [op for op in ops if not isinstance(op, Store)]
    changed = replace(f, body=Region(f.body.args, (*before, *bounds, loop, last)))
    return renumber(remove_dead(changed, keeps_faults=False))


_MADE = Compute | Load | Constant


class _NotByRows(Exception):
    """Something is not computed row by row."""


def _shape_of_rows(ops: list[Op]) -> Shape | None:
    """The shape of the blocks of rows that are reduced along their columns."""
    if not all(isinstance(op, _MADE | Store) for op in ops):
        return None
    reductions = [op for op in ops if isinstance(op, Compute) and op.op.reduction]
    shapes = {op.operands[0].shape for op in reductions}
    [shape] = shapes if len(shapes) == 1 else [()]
    if any(op.attr("axis") != 1 for op in reductions):
        return None
    if len(shape) != 2 or shape[0] == 1 or shape[1] < _LEAST_COLUMNS:
        return None
    return shape


def _are_independent(ops: list[Op]) -> bool:
    """Whether no row can read or overwrite what another has written."""
    written = [op.pointer.id for op in ops if isinstance(op, Store)]
    read = {op.pointer.id for op in ops if isinstance(op, Load)}
    return len(set(written)) == len(written) and not read & set(written)


@record
class _Rows:
    """Rewrites values for one row: a block of rows becomes a row, a column becomes a scalar."""

    build: Builder
    shape: Shape
    row: Value
    makers: dict[int, Compute | Load | Constant]
    made: dict[int, Value] = field(default_factory=dict[int, Value])

    def store(self, op: Store) -> None:
        if op.offset.shape not in (self.shape, self.shape[:1], (self.shape[0], 1)):
            raise _NotByRows
        mask = None if op.mask is None else self.of(op.mask)
        offset, value = self.of(op.offset), self.of(op.value)
        self.build.loc = op.loc
        self.build.store(op.pointer, offset, value, mask)

    def of(self, value: Value) -> Value:
        if value.id not in self.made:
            op = self.makers.get(value.id)
            if isinstance(op, Load):
                mask = None if op.mask is None else self.of(op.mask)
                other = None if op.other is None else self.of(op.other)
                offset = self.of(op.offset)
                self.build.loc = op.loc
                made = self.build.load(op.pointer, offset, mask, other)
            elif isinstance(op, Compute):
                made = self.compute(op)
            else:
                raise _NotByRows
            self.made[value.id] = made
        return self.made[value.id]

    def compute(self, op: Compute) -> Value:
        name, shape = op.op.name, op.result.shape
        is_column = shape in (self.shape[:1], (self.shape[0], 1))
        if not is_column and (len(shape) != 2 or shape[1] != self.shape[1]):
            raise _NotByRows
        self.build.loc = op.loc
        match name:
            case "splat":
                return self.spread(op.operands[0], is_column)
            case "arange":
                start = op.attr("start")
                assert isinstance(start, int)
                return self.build.compute("add", self.row, self.build.constant(start, I32))
            case "expand_dims":
                return self.of(op.operands[0]) if is_column else self.again(op.operands[0])
            case "broadcast":
                found = self.of(op.operands[0])
                return found if found.shape else self.spread(found, is_column)
            case _ if op.op.reduction:
                rows = self.of(op.operands[0])
                self.build.loc = op.loc
                return self.build.compute(name, rows, axis=0)
            case _ if op.op.elementwise:
                parts = [self.of(operand) for operand in op.operands]
                self.build.loc = op.loc
                return self.build.compute(name, *parts, **dict(op.attrs))
            case _:
                raise _NotByRows

    def again(self, row: Value) -> Value:
        """A row that is the same for all rows; a load of one is repeated for each of them."""
        op = self.makers.get(row.id)
        if not isinstance(op, Load):
            return row
        self.build.loc = op.loc
        return self.build.load(op.pointer, op.offset, op.mask, op.other)

    def spread(self, number: Value, is_column: bool) -> Value:
        return number if is_column else self.build.compute("splat", number, shape=self.shape[1:])
