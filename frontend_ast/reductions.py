"""Reductions and scans: those with a name, and those by a function of the kernel's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eas.frontend_ast.arithmetic import items_of
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.operands import FALSE, NONE, ZERO, Const, Num, Operand, Tuple
from eas.frontend_ast.promote import (
    broadcast,
    cast,
    common_shape,
    describe,
    materialize,
    number,
    to_bool,
)
from eas.frontend_ast.static import runtime_number, static_axis, static_flag
from eas.ir.nodes import (
    Constant,
    Function,
    Op,
    Region,
    Value,
    Yield,
    is_elementwise,
    operands_of,
    results_of,
)
from eas.ir.ops.reduce import accumulator
from eas.ir.passes.exits import lower_exits
from eas.ir.passes.fold import fold
from eas.ir.passes.select import without_branches
from eas.ir.rewrite import Renaming
from eas.ir.types import BOOL, F32, DType, Scalar, count
from eas.support.diagnostics import Fix
from eas.support.records import replace

# Calls an operand that is a function.
Call = Callable[[Operand, Sequence[Operand]], Operand]


def _reduction(op: str, shown: str) -> Callable[..., Operand]:
    """`mk.sum` and its like: over one axis, or over all lanes."""

    def lower(
        ctx: Context, a: Operand, axis: Operand = NONE, keep_dims: Operand = FALSE
    ) -> Operand:
        num = runtime_number(ctx, a)
        require_all_lanes(ctx, f"`mk.{shown}`")
        if op in ("reduce_any", "reduce_all"):
            num = materialize(ctx, to_bool(ctx, num), BOOL)
        place = None if axis == NONE else static_axis(ctx, axis, num, _of_two(ctx, shown))
        if len(num.shape) == 1:
            place = None
        reduced = ctx.compute(op, num.value, axis=place)
        is_kept = static_flag(ctx, keep_dims, "keep_dims")
        return _kept(ctx, reduced, num, place) if is_kept else reduced

    return lower


def _reduce(
    ctx: Context,
    call: Call,
    a: Operand,
    axis: Operand,
    fn: Operand,
    keep_dims: Operand = FALSE,
) -> Operand:
    nums = _blocks(ctx, a, "`mk.reduce`")
    place = None if axis == NONE else static_axis(ctx, axis, nums[0])
    body = _function(ctx, call, fn, [num.dtype for num in nums])
    operands = [_with_last(ctx, num, place).value for num in nums]
    results = [Num(value) for value in ctx.build.combine("reduce", operands, body)]
    if static_flag(ctx, keep_dims, "keep_dims"):
        results = [_kept(ctx, num, nums[0], place) for num in results]
    return _like(a, results)


_OF_TWO = {"max": ("greater", "maximum"), "min": ("smaller", "minimum")}


def _of_two(ctx: Context, shown: str) -> tuple[Fix | str, ...]:
    """The help for an argument that is no axis, such as the second number of `mk.max(x, 0.0)`."""
    if shown not in _OF_TWO:
        return ()
    which, name = _OF_TWO[shown]
    help = f"the {which} of two is `mk.{name}(a, b)`"
    loc = ctx.loc
    called = replace(loc, end_line=loc.line, end_column=loc.column + len(f"mk.{shown}"))
    is_written = ctx.written_at(called) == f"mk.{shown}"
    return (rewrite(help, called, f"mk.{name}") if is_written else help,)


def _kept(ctx: Context, num: Num, like: Num, place: int | None) -> Num:
    """A result with the axis that was reduced, of extent 1."""
    if not num.shape:
        return broadcast(ctx, num, tuple(1 for _ in like.shape))
    assert place is not None
    return ctx.compute("expand_dims", num.value, axis=place)


def _scan(
    ctx: Context,
    call: Call,
    a: Operand,
    axis: Operand,
    fn: Operand,
    reverse: Operand = FALSE,
) -> Operand:
    nums = _blocks(ctx, a, "`mk.associative_scan`")
    place = static_axis(ctx, axis, nums[0])
    body = _function(ctx, call, fn, [num.dtype for num in nums])
    return _like(a, _scanned(ctx, nums, place, body, static_flag(ctx, reverse, "reverse")))


def _running(shown: str, op: str) -> Callable[..., Operand]:
    """`cumsum` or `cumprod`; floats narrower than f32 are added up in f32 and rounded once."""

    def lower(
        ctx: Context, call: Call, a: Operand, axis: Operand = ZERO, reverse: Operand = FALSE
    ) -> Operand:
        del call
        num, *others = _blocks(ctx, a, shown)
        if others:
            raise ctx.refusal(
                "E0302",
                f"{shown} takes one block, this is {describe(a)}",
                at=a,
                help="scan several together by a function: `mk.associative_scan(blocks, axis, fn)`",
            )
        place = static_axis(ctx, axis, num)
        own = num.dtype
        wide = F32 if own.is_float and own.bits < 32 else accumulator(own)

        def body(x: Value, y: Value) -> list[Value]:
            return [ctx.build.compute(op, x, y)]

        function = _region(ctx, [wide], lambda values: body(*values))
        is_reverse = static_flag(ctx, reverse, "reverse")
        [result] = _scanned(ctx, [cast(ctx, num, wide)], place, function, is_reverse)
        return cast(ctx, result, own) if own.is_float else result

    return lower


def _scanned(
    ctx: Context, nums: Sequence[Num], place: int, body: Region, is_reverse: bool
) -> list[Num]:
    operands = [_flipped(ctx, _with_last(ctx, num, place), is_reverse).value for num in nums]
    results = [Num(value) for value in ctx.build.combine("scan", operands, body)]
    rank = len(nums[0].shape)
    back = (*range(place), rank - 1, *range(place, rank - 1))
    return [_permuted(ctx, _flipped(ctx, num, is_reverse), back) for num in results]


def _blocks(ctx: Context, a: Operand, shown: str) -> list[Num]:
    """One block or several, brought to one shape."""
    nums = [runtime_number(ctx, item) for item in items_of(a) or (a,)]
    require_all_lanes(ctx, shown)
    shape = common_shape(ctx, nums)
    if not shape:
        raise ctx.refusal("E0302", f"{shown} takes a block, this is {describe(nums[0])}", at=a)
    return [broadcast(ctx, num, shape) for num in nums]


def _with_last(ctx: Context, num: Num, place: int | None) -> Num:
    """The block with an axis moved to the end, or with all its axes as one."""
    if place is None:
        flat = (count(num.shape),)
        return num if num.shape == flat else ctx.compute("reshape", num.value, shape=flat)
    rank = len(num.shape)
    return _permuted(ctx, num, (*(n for n in range(rank) if n != place), place))


def _permuted(ctx: Context, num: Num, axes: tuple[int, ...]) -> Num:
    if axes == tuple(range(len(axes))):
        return num
    return ctx.compute("permute", num.value, axes=axes)


def _flipped(ctx: Context, num: Num, is_reverse: bool) -> Num:
    if not is_reverse:
        return num
    return flip_axis(ctx, num, len(num.shape) - 1)


def flip_axis(ctx: Context, num: Num, place: int) -> Num:
    """The block with the elements along an axis in the opposite order."""
    shape = num.shape
    starts = tuple(extent - 1 if n == place else 0 for n, extent in enumerate(shape))
    steps = tuple(-1 if n == place else 1 for n in range(len(shape)))
    return ctx.compute("slice", num.value, starts=starts, sizes=shape, steps=steps)


def _like(a: Operand, results: Sequence[Num]) -> Operand:
    """A tuple of results for a tuple of blocks, one for one."""
    return results[0] if items_of(a) is None else Tuple(tuple(results))


def _function(ctx: Context, call: Call, fn: Operand, dtypes: Sequence[DType]) -> Region:
    """The user's function, called with two elements of each block."""

    def body(values: Sequence[Value]) -> list[Value]:
        result = call(fn, [Num(value) for value in values])
        given = items_of(result) or (result,)
        if len(given) != len(dtypes):
            raise ctx.refusal(
                "E0430",
                f"{describe(fn)} gives {_counted(len(given))}, wanted is {_counted(len(dtypes))}",
                at=fn,
                help="it takes an element of each block, then another one of each, "
                "and gives one of each",
            )
        pairs = zip(given, dtypes, strict=True)
        return [_element(ctx, fn, each, dtype).value for each, dtype in pairs]

    region = _region(ctx, dtypes, body)
    _check_computes(ctx, fn, region)
    return region


def _counted(number: int) -> str:
    return "one value" if number == 1 else f"{number} values"


def _element(ctx: Context, fn: Operand, given: Operand, dtype: DType) -> Num:
    found = number(ctx, given)
    is_block = isinstance(found, Num) and bool(found.shape)
    if isinstance(found, Const) or (not is_block and (found.weak or found.dtype == dtype)):
        return materialize(ctx, found, dtype)
    raise ctx.refusal(
        "E0430",
        f"{describe(fn)} gives {describe(found)} for elements that are {dtype}",
        at=fn,
        help="it is called with two elements, and makes one of them"
        if is_block
        else f"convert what it gives: `.to(mk.{dtype})`",
    )


def _region(
    ctx: Context, dtypes: Sequence[DType], body: Callable[[Sequence[Value]], list[Value]]
) -> Region:
    """A region of scalars without branches, whose values are new to the kernel."""
    args = [ctx.build.value(Scalar(dtype)) for dtype in (*dtypes, *dtypes)]
    ops: list[Op] = []
    with ctx.into(ops):
        values = body(args)
        ctx.build.emit(Yield(tuple(values), ctx.loc))
    whole = Function("combine", (), Region(tuple(args), tuple(ops)), ctx.loc.source)
    plain = fold(without_branches(fold(lower_exits(whole))))

    def fresh(value: Value) -> Value:
        new = ctx.build.value(value.ty)
        if value.id in ctx.hints:
            ctx.hints[new.id] = ctx.hints[value.id]
        return new

    return Renaming(fresh, is_copy=True).region(plain.body)


def _check_computes(ctx: Context, fn: Operand, region: Region) -> None:
    known = set(region.args)
    for op in region.ops:
        is_plain = isinstance(op, Constant | Yield) or is_elementwise(op)
        if not is_plain or any(value not in known for value in operands_of(op)):
            words = "uses a run-time value from outside" if is_plain else "does more than compute"
            raise ctx.refusal(
                "E0430",
                f"{describe(fn)} {words}",
                at=op.loc if not is_plain else fn,
                notes=("which elements it is called with, and how often, is the backend's choice",),
                help="pass what it needs as another block, or use `mk.where` for a choice",
            )
        known.update(results_of(op))


REDUCTIONS: dict[str, Callable[..., Operand]] = {
    f"reduce_{name}": _reduction(f"reduce_{name}", "xor_sum" if name == "xor" else name)
    for name in ("sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "xor")
}
COMBINATIONS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "associative_scan": _scan,
    "cumsum": _running("`mk.cumsum`", "add"),
    "cumprod": _running("`mk.cumprod`", "mul"),
}
