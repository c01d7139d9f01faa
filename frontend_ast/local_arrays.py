"""Small arrays of each lane: `mk.local(4, mk.f32)`.

The elements are values, as those of variables are: a store gives the name of the array new
elements, of which an index that is known at run time only selects one. So branches, loops and
lanes that diverge treat an array as they treat variables, on every backend, and a GPU keeps it
in registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from eas.frontend_ast.context import Context
from eas.frontend_ast.memory import as_element
from eas.frontend_ast.operands import UNNAMED, Const, LocalArray, Num, Operand
from eas.frontend_ast.promote import (
    Number,
    broadcast,
    common_dtype,
    common_shape,
    describe,
    materialize,
    number,
    promote,
)
from eas.frontend_ast.scopes import Bound, Env
from eas.frontend_ast.static import static_dtype, static_int
from eas.ir.types import F32, I32, I64
from eas.support.records import frozen, replace

# As many as the registers of a thread hold, and as selections are worth it.
MAX_ELEMENTS = 64

_F32 = Const(F32)


def _local(ctx: Context, size: Operand, dtype: Operand = _F32) -> Operand:
    count = static_int(ctx, size, "the size of an array")
    if not 1 <= count <= MAX_ELEMENTS:
        raise ctx.refusal(
            "E0514",
            f"an array of a lane has 1 to {MAX_ELEMENTS} elements, not {count}",
            at=size,
            help="keep more in an array argument, a part of it for each program",
        )
    kind = static_dtype(ctx, dtype)
    zero = Num(ctx.build.constant(False if kind.is_bool else 0, kind))
    ctx.labels += 1
    return LocalArray(UNNAMED, kind, (zero,) * count, ctx.labels)


def named(ctx: Context, array: LocalArray, name: str) -> LocalArray:
    """The array with the name that it is assigned to; it has one name only.

    In Python both names would be those of one array, whose elements change for both.
    """
    if array.name in (UNNAMED, name):
        return replace(array, name=name)
    raise ctx.refusal(
        "E0433",
        f"`{array.name}` has a name already",
        notes=("a store to an element would have to change both",),
        help=f"use `{array.name}` itself, or copy its elements",
    )


def refuse_inside(ctx: Context, operands: Iterable[Operand], what: str) -> None:
    """An array is no part of something else: a store would have to change that too."""
    for operand in operands:
        if isinstance(operand, LocalArray):
            raise ctx.refusal(
                "E0433",
                f"the array `{operand.name}` cannot be a part of {what}",
                at=operand,
                help=f"use its elements: `{operand.name}[0]`",
            )


def load(ctx: Context, array: LocalArray, index: int | Num) -> Num:
    """`best[j]`, with an index that is known now, or of the program, or of each lane."""
    if isinstance(index, int):
        return array.items[index]
    found = array.items[0]
    for place, item in enumerate(array.items[1:], 1):
        found = _where(ctx, _is_at(ctx, index, place), item, found)
    return found


def store(ctx: Context, name: str, index: int | Num, value: Operand) -> None:
    """`best[j] = v`: the name gets an array with another element."""
    array = _own_array(ctx, name)
    new = as_element(ctx, array, number(ctx, value, "a number to store"))
    if isinstance(index, int):
        items = (*array.items[:index], new, *array.items[index + 1 :])
    else:
        items = tuple(
            _where(ctx, _is_at(ctx, index, place), new, item)
            for place, item in enumerate(array.items)
        )
    ctx.frame.env[name] = Bound(replace(array, items=items), ctx.loc)


def _own_array(ctx: Context, name: str) -> LocalArray:
    array = _bound_array(ctx.frame.env, name)
    if array is not None:
        return array
    raise ctx.refusal(
        "E0433",
        f"an inner function cannot change the array `{name}`",
        help=f"give it `{name}` as an argument",
    )


@frozen
class GivenArray:
    """An array that a call gives to a function: its parameter, and its name in the caller."""

    parameter: str
    name: str
    array: LocalArray


def given_arrays(
    ctx: Context, env: Env, arguments: Iterable[tuple[Operand, ast.expr]]
) -> list[GivenArray]:
    """The arrays among the parameters of a function; `arguments` are as the call has them."""
    written = {id(operand): node for operand, node in arguments}
    found: dict[int, GivenArray] = {}
    for parameter in names_of_arrays(env):
        array = _bound_array(env, parameter)
        assert array is not None
        if array.key in found:
            raise ctx.refusal(
                "E0433",
                f"the array `{array.name}` is given twice",
                notes=("a store to an element of one would have to change the other",),
            )
        node = written.get(id(array))
        name = node.id if isinstance(node, ast.Name) and node.id in ctx.frame.env else ""
        found[array.key] = GivenArray(parameter, name, array)
    return list(found.values())


def refuse_outer_names(ctx: Context, node: ast.AST, given: Iterable[GivenArray]) -> None:
    """An inner function that gets an array must not use it by its outer name too."""
    used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for each in given:
        if each.name in used and each.name != each.parameter:
            raise ctx.refusal(
                "E0433",
                f"an inner function gets the array `{each.name}` and uses it by that name too",
                help=f"use its parameter `{each.parameter}` only",
            )


def _bound_array(env: Env, name: str) -> LocalArray | None:
    binding = env.get(name)
    value = binding.value if isinstance(binding, Bound) else None
    return value if isinstance(value, LocalArray) else None


def take_back(ctx: Context, given: Iterable[GivenArray], env: Env) -> None:
    """After a call: the arrays as the function has left them."""
    for each in given:
        array = _bound_array(env, each.parameter)
        if array is None or array.key != each.array.key or array.items == each.array.items:
            continue
        if not each.name:
            raise ctx.refusal(
                "E0433",
                f"this call changes the array `{each.array.name}` of an outer function",
                help="call it where the array is made",
            )
        ctx.frame.env[each.name] = Bound(array, ctx.loc)


def returned(operand: Operand, given: Iterable[GivenArray]) -> Operand:
    """What a function returns: an array that it has made gets its name where it is assigned."""
    if not isinstance(operand, LocalArray) or operand.key in [each.array.key for each in given]:
        return operand
    return replace(operand, name=UNNAMED)


def names_of_arrays(env: Env) -> list[str]:
    """The names of arrays, which any code may change that mentions them."""
    return [name for name in env if _bound_array(env, name) is not None]


def mentioned_arrays(ctx: Context, nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """The names of arrays that occur in a piece of code."""
    names = names_of_arrays(ctx.frame.env) if ctx.has_local_arrays else []
    if not names:
        return ()
    used = {inner.id for n in nodes for inner in ast.walk(n) if isinstance(inner, ast.Name)}
    return tuple(name for name in names if name in used)


def index_of(ctx: Context, array: LocalArray, part: ast.expr) -> int | Num:
    """The index between brackets, checked; below zero it counts from the end."""
    operand = ctx.expression(part)
    with ctx.at(part):
        one = number(ctx, operand, "an index")
        if not common_dtype(ctx, [one]).is_int or (isinstance(one, Num) and one.dtype.is_bool):
            raise ctx.refusal("E0501", f"an index is an int, this is {describe(one)}")
        size = len(array.items)
        if isinstance(one, Const):
            return _static_index(ctx, array, static_int(ctx, one, "an index"))
        dtype = I64 if one.dtype.bits == 64 else I32
        a, b = promote(ctx, [materialize(ctx, one, dtype), Const(size)], dtype)
        return ctx.compute("index", a.value, b.value, array=array.name, axis=0)


def _static_index(ctx: Context, array: LocalArray, index: int) -> int:
    size = len(array.items)
    if not -size <= index < size:
        raise ctx.refusal(
            "E0504",
            f"index {index} is out of bounds for `{array.name}`, which is {size} long",
        )
    return index % size


def _is_at(ctx: Context, index: Num, place: int) -> Num:
    a, b = promote(ctx, [index, Const(place)], index.dtype)
    return ctx.compute("eq", a.value, b.value)


def _where(ctx: Context, condition: Num, yes: Num, no: Num) -> Num:
    numbers: list[Number] = [condition, yes, no]
    shape = common_shape(ctx, numbers)
    parts = [broadcast(ctx, each, shape).value for each in (condition, yes, no)]
    return ctx.compute("select", *parts)


LOCAL_ARRAYS: dict[str, Callable[..., Operand]] = {"local": _local}
