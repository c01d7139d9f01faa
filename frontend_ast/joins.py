"""Joins of paths: each name gets one value, of one type, or an error that shows both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from eas.frontend_ast.context import Context, Edge
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.local_arrays import names_of_arrays
from eas.frontend_ast.number_forms import (
    as_array_pointer,
    as_number,
    as_tuple,
    is_number,
    is_same_constant,
    is_same_kind,
    parts_of,
    with_parts,
)
from eas.frontend_ast.operands import Array, ArrayPointer, Const, Num, Operand, Poison, Tuple
from eas.frontend_ast.promote import (
    Number,
    aligned,
    broadcast,
    constant_dtype,
    describe,
    fits,
    materialize,
)
from eas.frontend_ast.scopes import UNBOUND, Binding, Bound, Env, Unbound
from eas.frontend_ast.source.errors import Refusal
from eas.ir.nodes import Op, Value
from eas.ir.types import DType, Shape, broadcast_shapes, make_type
from eas.support.diagnostics import Fix, Label
from eas.support.location import Loc
from eas.support.records import field, frozen, record

Terminate = Callable[[tuple[Value, ...], Loc], Op]

ASSIGNED = "from this assignment"


@frozen
class Path:
    """How an edge is taken, in words: `when` at its own place, `where` beside an assignment."""

    loc: Loc
    when: str
    where: str = ASSIGNED


@frozen
class LeafType:
    """The type in which paths agree on one number."""

    dtype: DType
    shape: Shape
    weak: bool = False


@record
class Join:
    """Edges that join. `results` and `columns` grow as names are merged; `close` ends the edges.

    `split` is the shape of the condition that decides which edge a lane takes. `must_cover` says
    that what is joined has that shape even if there is one edge only: lanes take it at different
    times, or there is another path that is never run to its end.
    """

    ctx: Context
    edges: Sequence[Edge]
    split: Shape = ()
    must_cover: bool = False
    results: list[Value] = field(default_factory=list[Value])
    columns: list[tuple[Number, ...]] = field(default_factory=list[tuple[Number, ...]])

    def merge_names(self, names: Iterable[str], base: Env, paths: Sequence[Path | None]) -> Env:
        """The names after the join; `paths` says how each edge was taken."""
        env = dict(base)
        if self.ctx.has_local_arrays:
            names = dict.fromkeys((*names, *names_of_arrays(base)))
        for name in names:
            found = [edge.env.get(name, UNBOUND) for edge in self.edges]
            if all(binding is base.get(name) for binding in found):
                continue
            try:
                env[name] = self._merge_binding(name, found, base.get(name), paths)
            except Refusal as error:
                self.ctx.report(error)
                env[name] = Bound(Poison(), self.ctx.loc)
        return env

    def merge(self, operands: Sequence[Operand], sides: Sequence[Label], what: str) -> Operand:
        """One operand for what each edge brings; `what` and `sides` are for the errors."""
        first = operands[0]
        if any(isinstance(operand, Poison) for operand in operands):
            return Poison()
        if all(is_same_constant(operand, first) for operand in operands):
            return first
        if all(is_number(operand) for operand in operands):
            return self._merge_numbers([as_number(o) for o in operands], sides, what)
        if any(isinstance(operand, Tuple) for operand in operands):
            tuples = [o for o in map(as_tuple, operands) if isinstance(o, Tuple)]
            if len(tuples) == len(operands):
                return self._merge_tuples(tuples, sides, what)
        if all(isinstance(operand, Array | ArrayPointer) for operand in operands):
            return self._merge_pointers(operands, sides, what)
        if all(is_same_kind(operand, first) for operand in operands):
            columns = zip(*map(parts_of, operands), strict=True)
            return with_parts(first, [self.merge(column, sides, what) for column in columns])
        raise self._mismatch(operands, sides, what)

    def close(self, terminate: Terminate) -> None:
        """Converts what each edge brings to the types agreed on, and ends it."""
        for position, edge in enumerate(self.edges):
            edge.ops.append(terminate(self.values(position), edge.loc))

    def values(self, position: int) -> tuple[Value, ...]:
        """What one edge brings, converted at its end."""
        numbers = [column[position] for column in self.columns]
        return convert(self.ctx, self.edges[position], numbers, self.results)

    def _merge_binding(
        self,
        name: str,
        found: Sequence[Binding],
        before: Binding | None,
        paths: Sequence[Path | None],
    ) -> Binding:
        values: list[Operand] = []
        sides: list[Label] = []
        missing: dict[Label, None] = {}
        for binding, path in zip(found, paths, strict=True):
            if isinstance(binding, Bound):
                values.append(binding.value)
                words = path.where if path and binding is not before else ASSIGNED
                sides.append(Label(binding.loc, words))
            else:
                own = (Label(path.loc, f"no value {path.when}"),) if path else ()
                missing.update(dict.fromkeys(binding.paths or own))
        if len(values) != len(found):
            return Unbound(tuple(missing))
        return Bound(self.merge(values, sides, f"`{name}`"), sides[-1].loc)

    def _merge_numbers(self, numbers: Sequence[Number], sides: Sequence[Label], what: str) -> Num:
        is_chosen = bool(self.split) and (self.must_cover or not is_one_value(numbers))
        rank = len(self.split) if is_chosen else 0
        ty = join_leaf(self.ctx, numbers, sides, what, rank)
        shape = self.ctx.cover(ty.shape, self.split) if is_chosen else ty.shape
        name = what.strip("`")
        hint = name if name.isidentifier() else ""
        result = self.ctx.build.value(make_type(ty.dtype, shape), hint)
        self.results.append(result)
        self.columns.append(tuple(numbers))
        return Num(result, ty.weak)

    def _merge_tuples(self, tuples: Sequence[Tuple], sides: Sequence[Label], what: str) -> Operand:
        first = tuples[0]
        if any(len(t.items) != len(first.items) or t.make is not first.make for t in tuples):
            raise self._mismatch(tuples, sides, what)
        columns = zip(*(t.items for t in tuples), strict=True)
        parts = [part_name(what, first, position) for position in range(len(first.items))]
        items = [self.merge(c, sides, part) for c, part in zip(columns, parts, strict=True)]
        return Tuple(tuple(items), first.make, first.fields)

    def _merge_pointers(
        self, operands: Sequence[Operand], sides: Sequence[Label], what: str
    ) -> Operand:
        pointers = [as_array_pointer(operand) for operand in operands]
        first = pointers[0]
        for pointer, side in zip(pointers, sides, strict=True):
            if pointer.array.pointer is not first.array.pointer:
                raise two_arrays(self.ctx, what, (first, pointer), (sides[0], side))
        if all(isinstance(operand, Array) for operand in operands):
            return operands[0]
        offset = self.merge([pointer.offset for pointer in pointers], sides, what)
        assert isinstance(offset, Const | Num)
        return ArrayPointer(first.array, offset)

    def _mismatch(
        self, operands: Sequence[Operand], sides: Sequence[Label], what: str
    ) -> Exception:
        words = [describe(operand) for operand in operands]
        other = next((i for i, word in enumerate(words) if word != words[0]), len(words) - 1)
        return _differ(
            self.ctx,
            "E0310",
            f"{what} is {{}} here and {{}} there",
            (words[0], words[other]),
            (sides[0], sides[other]),
            "both paths must give the same kind of value",
        )


def convert(
    ctx: Context, edge: Edge, numbers: Sequence[Number], targets: Sequence[Value]
) -> tuple[Value, ...]:
    """The numbers as values of the targets' types, made at the end of an edge."""
    if not numbers:
        return ()
    before, ctx.build.loc = ctx.build.loc, edge.loc
    try:
        with ctx.into(edge.ops):
            converted = [
                broadcast(ctx, materialize(ctx, number, target.ty.dtype), target.shape).value
                for number, target in zip(numbers, targets, strict=True)
            ]
    finally:
        ctx.build.loc = before
    return tuple(converted)


def join_leaf(
    ctx: Context, numbers: Sequence[Number], sides: Sequence[Label], what: str, rank: int = 0
) -> LeafType:
    """The type that joins these numbers; only literals are converted.

    Where lanes choose among them, `rank` is that of the lanes.
    """
    shape, seen = Shape(), sides[0]
    for num, side in zip(numbers, sides, strict=True):
        if isinstance(num, Num) and num.shape:
            both = _meeting_shape(shape, num.shape, rank)
            if both is None:
                raise _two_shapes(ctx, (shape, seen), (num.shape, side), what)
            shape, seen = both, side
    strong = [position for position, n in enumerate(numbers) if not _is_weak(n)]
    chosen = strong[0] if strong else _widest(ctx, numbers)
    dtype = _dtype(ctx, numbers[chosen])
    for position, num in enumerate(numbers):
        if not _agrees(ctx, num, dtype):
            one, other = sorted((chosen, position), key=lambda i: _position(sides[i].loc))
            raise _two_types(ctx, (numbers[one], sides[one]), (numbers[other], sides[other]), what)
    return LeafType(dtype, shape, not strong and not dtype.is_bool)


def _meeting_shape(one: Shape, other: Shape, rank: int) -> Shape | None:
    """The shape of a name that has these on two paths.

    Lanes that choose have one value each in any shape. Where all take one path, a block with more
    elements than that path gives would have another sum.
    """
    if rank:
        return broadcast_shapes(one, aligned(other, rank))
    return other if one in (Shape(), other) else None


def _widest(ctx: Context, numbers: Sequence[Number]) -> int:
    return max(range(len(numbers)), key=lambda position: _dtype(ctx, numbers[position]).bits)


def _dtype(ctx: Context, num: Number) -> DType:
    return num.dtype if isinstance(num, Num) else constant_dtype(ctx, num)


def _is_weak(num: Number) -> bool:
    if isinstance(num, Num):
        return num.weak
    return type(num.value) in (int, float)


def _agrees(ctx: Context, num: Number, dtype: DType) -> bool:
    own = _dtype(ctx, num)
    if not _is_weak(num):
        return own == dtype
    if own.is_float != dtype.is_float or dtype.is_bool:
        return False
    if isinstance(num, Const):
        return fits(num.value, dtype)
    return own.bits <= dtype.bits


def is_one_value(numbers: Sequence[Number]) -> bool:
    """Whether all paths bring the same runtime value."""
    first = numbers[0]
    return isinstance(first, Num) and all(
        isinstance(n, Num) and n.value is first.value for n in numbers
    )


def part_name(what: str, whole: Tuple, position: int) -> str:
    """The words for a part of a tuple: `pair[1]`, `point.x`."""
    part = f".{whole.fields[position]}" if whole.fields else f"[{position}]"
    return f"{what[:-1]}{part}`" if what.endswith("`") else f"{what}, part {position},"


def two_arrays(
    ctx: Context, what: str, pointers: tuple[ArrayPointer, ArrayPointer], sides: tuple[Label, Label]
) -> Exception:
    names = [f"`{pointer.array.name}`" for pointer in pointers]
    return _differ(
        ctx,
        "E0311",
        f"{what} points into {{}} here and into {{}} there",
        (names[0], names[1]),
        sides,
        "which array is used must be known at compile time: load in each branch, and choose "
        "between the loaded values",
    )


def _differ(
    ctx: Context,
    code: str,
    message: str,
    words: tuple[str, str],
    sides: tuple[Label, Label],
    help: str,
) -> Exception:
    """An error about two assignments: at the later one, with the earlier one beside it."""
    pair = sorted(zip(words, sides, strict=True), key=lambda each: _position(each[1].loc))
    (first, before), (second, after) = pair
    return ctx.refusal(
        code,
        message.format(first, second),
        at=after.loc,
        label=f"{second}, {after.text}",
        secondary=[Label(before.loc, f"{first}, {before.text}")],
        help=help,
    )


def _position(loc: Loc) -> tuple[int, int]:
    return loc.line, loc.column


def _two_shapes(
    ctx: Context, first: tuple[Shape, Label], second: tuple[Shape, Label], what: str
) -> Exception:
    (a, before), (b, after) = first, second
    return _differ(
        ctx,
        "E0310",
        f"{what} is {{}} here and {{}} there",
        (f"a block of {list(a)}", f"a block of {list(b)}"),
        (before, after),
        "both paths must give blocks of one shape: `x[None, :]`, `mk.broadcast_to(x, shape)`",
    )


def _two_types(
    ctx: Context, first: tuple[Number, Label], second: tuple[Number, Label], what: str
) -> Exception:
    a, b = (_dtype(ctx, number) for number, _ in (first, second))
    words = [_word(d) for d in (a, b)]
    if words[0] == words[1]:
        words = [str(a), str(b)]
    return ctx.refusal(
        "E0312",
        f"{what} is {words[0]} here and {words[1]} there",
        at=second[1].loc,
        label=f"{b}, {second[1].text}",
        secondary=[Label(first[1].loc, f"{a}, {first[1].text}")],
        help=_repair(first, second, a, b),
    )


def _word(dtype: DType) -> str:
    return "a bool" if dtype.is_bool else "a float" if dtype.is_float else "an int"


def _repair(
    first: tuple[Number, Label], second: tuple[Number, Label], a: DType, b: DType
) -> Fix | str:
    for (number, label), own, other in ((first, a, b), (second, b, a)):
        if _is_weak(number) and other.is_float and not own.is_float:
            return _as_float(label.loc)
    value = second[0].value if isinstance(second[0], Const) else None
    if a.is_bool and value in (0, 1):
        return _as_bool(second[1].loc, bool(value))
    if b.is_bool or a.is_bool:
        return "make both bools, or both numbers"
    return f"convert one of them: `.to(mk.{a})` or `.to(mk.{b})`"


_INT = re.compile(r"(\w+ *= *|return +|)-?\d+")


def _as_float(loc: Loc) -> Fix | str:
    text = _written(loc)
    found = _INT.fullmatch(text)
    if found is None:
        return "start with a float"
    help = f"{'start with' if '=' in found[1] else 'write'} a float: `{text}.0`"
    return rewrite(help, loc, f"{text}.0")


def _as_bool(loc: Loc, value: bool) -> Fix | str:
    help, text = f"use a bool there too: `{value}`", _written(loc)
    found = _INT.fullmatch(text)
    return help if found is None else rewrite(help, loc, f"{found[1]}{value}")


def _written(loc: Loc) -> str:
    """The text of a place on one line."""
    line = loc.source.line(loc.line)
    return line[loc.column : loc.end_column] if loc.line == loc.end_line else ""
