"""Where paths meet: each name gets one value, of one type, or an error that shows both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from eas.frontend_ast.arguments import is_same
from eas.frontend_ast.context import Context, Edge
from eas.frontend_ast.promote import (
    Number,
    broadcast,
    constant_dtype,
    describe,
    fits,
    is_numeric,
    materialize,
)
from eas.frontend_ast.scopes import Binding, Bound, Env, Unbound
from eas.frontend_ast.values import Array, Const, Num, Operand, Place, Poison, Tuple
from eas.ir.diagnostics import Label
from eas.ir.location import Loc
from eas.ir.nodes import Op, Value
from eas.ir.types import DType, Shape, make_type

Terminate = Callable[[tuple[Value, ...], Loc], Op]


@dataclass(frozen=True, slots=True)
class LeafType:
    """The type in which paths agree on one number."""

    dtype: DType
    shape: Shape
    weak: bool = False


@dataclass
class Join:
    """Edges that meet. `results` and `columns` grow as names are merged; `close` ends the edges.

    `split` is the shape of the condition that decides which edge a lane takes. `is_loop` says that
    lanes take it at different times, so that even one edge brings them different values.
    """

    ctx: Context
    edges: Sequence[Edge]
    split: Shape = ()
    is_loop: bool = False
    results: list[Value] = field(default_factory=list[Value])
    columns: list[tuple[Number, ...]] = field(default_factory=list[tuple[Number, ...]])

    def merge_names(self, names: Sequence[str], base: Env, paths: Sequence[Label | None]) -> Env:
        """The names after the join; `paths` says in words how each edge was taken."""
        env = dict(base)
        for name in names:
            found = [edge.env.get(name, Unbound()) for edge in self.edges]
            if all(binding is base.get(name) for binding in found):
                continue
            env[name] = self._merge_binding(name, found, paths)
        return env

    def merge(self, operands: Sequence[Operand], locs: Sequence[Loc], name: str) -> Operand:
        """One operand for what each edge brings."""
        first = operands[0]
        if any(isinstance(operand, Poison) for operand in operands):
            return Poison()
        if all(_is_constant(operand, first) for operand in operands):
            return first
        if all(_is_numeric(operand) for operand in operands):
            return self._merge_numbers([_as_number(o) for o in operands], locs, name)
        if all(isinstance(operand, Tuple) for operand in operands):
            return self._merge_tuples([o for o in operands if isinstance(o, Tuple)], locs, name)
        if all(isinstance(operand, Array | Place) for operand in operands):
            return self._merge_places(operands, locs, name)
        if all(operand is first for operand in operands):
            return first
        raise self._mismatch(operands, locs, name)

    def close(self, terminate: Terminate) -> None:
        """Converts what each edge brings to the types agreed on, and ends it."""
        for place, edge in enumerate(self.edges):
            edge.ops.append(terminate(self.values(place), edge.loc))

    def values(self, place: int) -> tuple[Value, ...]:
        """What one edge brings, converted at its end."""
        numbers = [column[place] for column in self.columns]
        return convert(self.ctx, self.edges[place], numbers, self.results)

    def _merge_binding(
        self, name: str, found: Sequence[Binding], paths: Sequence[Label | None]
    ) -> Binding:
        missing = [(b, p) for b, p in zip(found, paths, strict=True) if isinstance(b, Unbound)]
        if missing:
            labels: dict[Label, None] = {}
            for binding, path in missing:
                for label in binding.paths or ((path,) if path else ()):
                    labels[label] = None
            return Unbound(tuple(labels))
        bound = [binding for binding in found if isinstance(binding, Bound)]
        merged = self.merge([b.value for b in bound], [b.loc for b in bound], name)
        return Bound(merged, bound[-1].loc)

    def _merge_numbers(self, numbers: Sequence[Number], locs: Sequence[Loc], name: str) -> Num:
        ty = join_leaf(self.ctx, numbers, locs, name)
        shape = ty.shape
        if self.split and (self.is_loop or not _is_one_value(numbers)):
            shape = self.ctx.cover(shape, self.split)
        result = self.ctx.build.value(make_type(ty.dtype, shape), name)
        self.results.append(result)
        self.columns.append(tuple(numbers))
        return Num(result, ty.weak)

    def _merge_tuples(self, tuples: Sequence[Tuple], locs: Sequence[Loc], name: str) -> Operand:
        first = tuples[0]
        if any(len(t.items) != len(first.items) or t.make is not first.make for t in tuples):
            raise self._mismatch(tuples, locs, name)
        columns = zip(*(t.items for t in tuples), strict=True)
        items = tuple(self.merge(column, locs, name) for column in columns)
        return Tuple(items, first.make, first.fields)

    def _merge_places(self, operands: Sequence[Operand], locs: Sequence[Loc], name: str) -> Operand:
        places = [as_place(operand) for operand in operands]
        first = places[0]
        if any(place.array.pointer is not first.array.pointer for place in places):
            names = sorted({place.array.name for place in places})
            raise self.ctx.refusal(
                "E0311",
                f"`{name}` points into different arrays: {' and '.join(f'`{n}`' for n in names)}",
                at=locs[-1],
                secondary=[Label(locs[0], "the other one, from this assignment")],
                help="which array is used must be known at compile time: load in each branch, "
                "and choose between the loaded values",
            )
        if all(isinstance(operand, Array) for operand in operands):
            return operands[0]
        offset = self.merge([place.offset for place in places], locs, name)
        assert isinstance(offset, Const | Num)
        return Place(first.array, offset)

    def _mismatch(self, operands: Sequence[Operand], locs: Sequence[Loc], name: str) -> Exception:
        first, other = 0, len(operands) - 1
        for place, operand in enumerate(operands):
            if describe(operand) != describe(operands[0]):
                other = place
        return self.ctx.refusal(
            "E0310",
            f"`{name}` is {describe(operands[first])} here and {describe(operands[other])} there",
            at=locs[other],
            label=describe(operands[other]),
            secondary=[Label(locs[first], f"{describe(operands[first])}, from this assignment")],
            help="both paths must give the same kind of value",
        )


def convert(
    ctx: Context, edge: Edge, numbers: Sequence[Number], targets: Sequence[Value]
) -> tuple[Value, ...]:
    """The numbers as values of the targets' types, made at the end of an edge."""
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


def join_leaf(ctx: Context, numbers: Sequence[Number], locs: Sequence[Loc], name: str) -> LeafType:
    """The type in which these numbers meet without any conversion but that of literals."""
    shape: Shape = ()
    for num in numbers:
        if isinstance(num, Num):
            shape = ctx.cover(shape, num.shape)
    strong = [place for place, n in enumerate(numbers) if not _is_weak(n)]
    chosen = strong[0] if strong else _widest(ctx, numbers)
    dtype = _dtype(ctx, numbers[chosen])
    for place, num in enumerate(numbers):
        if not _agrees(ctx, num, dtype):
            raise _two_types(ctx, numbers, locs, name, chosen, place)
    return LeafType(dtype, shape, not strong and not dtype.is_bool)


def _widest(ctx: Context, numbers: Sequence[Number]) -> int:
    return max(range(len(numbers)), key=lambda place: _dtype(ctx, numbers[place]).bits)


def _dtype(ctx: Context, num: Number) -> DType:
    return num.dtype if isinstance(num, Num) else constant_dtype(ctx, num.value)


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


def _is_one_value(numbers: Sequence[Number]) -> bool:
    first = numbers[0]
    return isinstance(first, Num) and all(
        isinstance(n, Num) and n.value is first.value for n in numbers
    )


def _two_types(
    ctx: Context,
    numbers: Sequence[Number],
    locs: Sequence[Loc],
    name: str,
    one: int,
    other: int,
) -> Exception:
    one, other = min(one, other), max(one, other)
    a, b = _dtype(ctx, numbers[one]), _dtype(ctx, numbers[other])
    words = [_word(d) for d in (a, b)]
    if words[0] == words[1]:
        words = [str(a), str(b)]
    return ctx.refusal(
        "E0312",
        f"`{name}` is {words[0]} here and {words[1]} there",
        at=locs[other],
        label=f"{b}, from this one",
        secondary=[Label(locs[one], f"{a}, from this assignment")],
        help=_repair(name, numbers[one], a, b),
    )


def _word(dtype: DType) -> str:
    return "a bool" if dtype.is_bool else "a float" if dtype.is_float else "an int"


def _repair(name: str, first: Number, a: DType, b: DType) -> str:
    if _is_weak(first) and b.is_float and not a.is_float:
        value = float(str(first.value)) if isinstance(first, Const) else 0.0
        return f"start with a float: `{name} = {value}`"
    return f"convert one of them: `.to(mk.{a})` or `.to(mk.{b})`"


# --- the numbers inside of an operand -----------------------------------------------------------


def leaves(operand: Operand) -> Iterator[Number]:
    """The numbers that an operand is made of."""
    match operand:
        case Num():
            yield operand
        case Const(value=value) if is_numeric(value):
            yield operand
        case Tuple(items=items):
            for item in items:
                yield from leaves(item)
        case Place(offset=offset):
            yield from leaves(offset)
        case _:
            pass


def rebuild(operand: Operand, numbers: Iterator[Num]) -> Operand:
    """The operand with other numbers in the places of its own."""
    match operand:
        case Num():
            return next(numbers)
        case Const(value=value) if is_numeric(value):
            return next(numbers)
        case Tuple(items=items, make=make, fields=fields):
            return Tuple(tuple(rebuild(item, numbers) for item in items), make, fields)
        case Place(array=array):
            return Place(array, next(numbers))
        case _:
            return operand


def has_same_form(a: Operand, b: Operand) -> bool:
    """Whether two operands differ in their numbers only."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return (
            len(a.items) == len(b.items)
            and a.make is b.make
            and all(map(has_same_form, a.items, b.items))
        )
    if isinstance(a, Place) and isinstance(b, Place):
        return points_into_one_array(a, b)
    if _is_numeric(a) or _is_numeric(b):
        return _is_numeric(a) and _is_numeric(b)
    return _is_constant(a, b) or a is b


def points_into_one_array(a: Operand, b: Operand) -> bool:
    if not isinstance(a, Array | Place) or not isinstance(b, Array | Place):
        return False
    return as_place(a).array.pointer is as_place(b).array.pointer


def as_place(operand: Operand) -> Place:
    assert isinstance(operand, Array | Place)
    return operand if isinstance(operand, Place) else Place(operand, Const(0))


def _is_constant(operand: Operand, first: Operand) -> bool:
    if not isinstance(operand, Const) or not isinstance(first, Const):
        return False
    return is_same(operand.value, first.value)


def _is_numeric(operand: Operand) -> bool:
    return isinstance(operand, Num) or (isinstance(operand, Const) and is_numeric(operand.value))


def _as_number(operand: Operand) -> Number:
    assert isinstance(operand, Const | Num)
    return operand
