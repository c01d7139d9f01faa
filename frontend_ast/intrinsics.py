"""The functions of `mk`. Those that are an op of the table need no line here."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import cast

from eas.frontend_ast import block_pointers, memory
from eas.frontend_ast.arithmetic import binary, is_bool, negate
from eas.frontend_ast.builtins import message_parts
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.combining import COMBINATIONS, Call
from eas.frontend_ast.context import Context
from eas.frontend_ast.fragments import FRAGMENTS
from eas.frontend_ast.matrices import MATRICES
from eas.frontend_ast.promote import (
    broadcast,
    common_dtype,
    describe,
    materialize,
    number,
    promote,
    to_bool,
)
from eas.frontend_ast.promote import cast as convert
from eas.frontend_ast.randoms import RANDOMS
from eas.frontend_ast.shapes import SHAPES
from eas.frontend_ast.static import (
    runtime_number,
    static_axis,
    static_dtype,
    static_int,
    static_ints,
    static_shape,
)
from eas.frontend_ast.values import (
    EMPTY,
    FALSE,
    NONE,
    UNNAMED,
    ZERO,
    Array,
    Const,
    Num,
    Operand,
    Tuple,
)
from eas.ir.diagnostics import Label
from eas.ir.nodes import Assert, AtomicKind, Barrier
from eas.ir.ops import OPS
from eas.ir.ops.record import OpDef, RuleError
from eas.ir.ops.simdgroup import SIMD_OPS
from eas.ir.types import (
    BOOL,
    DTYPES,
    F32,
    I32,
    U32,
    DType,
    Scalar,
    broadcast_shapes,
    count,
)

Handler = Callable[..., Operand]

FLOAT = Const(F32)
NO_TEXT = Const("")
ZEROS = Const("zero")


def lower_intrinsic(
    ctx: Context, name: str, shown: str, bound: inspect.BoundArguments, call: Call
) -> Operand:
    """A call of `mk.<shown>` whose arguments are bound to its parameters.

    `call` calls a function that is among the arguments.
    """
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler(ctx, **bound.arguments)
    if name in COMBINATIONS:
        return COMBINATIONS[name](ctx, call, **bound.arguments)
    if name.startswith("reduce_"):
        return _reduce(ctx, name, f"`mk.{shown}`", **bound.arguments)
    if name.startswith("atomic_"):
        kind = cast(AtomicKind, name.removeprefix("atomic_"))
        return _atomic(ctx, kind, **bound.arguments)
    if name in SIMD_OPS:
        return _simd(ctx, name, *bound.arguments.values())
    if name.startswith("to_"):
        return _cast(ctx, bound.arguments["a"], Const(DTYPES[name.removeprefix("to_")]))
    return _elementwise(ctx, OPS[name], list(bound.arguments.values()))


def is_function_of_mk(name: str) -> bool:
    tables = (OPS, HANDLERS, COMBINATIONS)
    return f"reduce_{name}" in OPS or any(name in table for table in tables)


# --- element-wise ops ---------------------------------------------------------------------------


def _elementwise(ctx: Context, op: OpDef, operands: Sequence[Operand]) -> Operand:
    """Any op of the table whose operands meet in one type; a function of floats takes ints too."""
    numbers = [number(ctx, operand) for operand in operands]
    dtype = common_dtype(ctx, numbers)
    if not dtype.is_float and _takes_floats_only(op):
        dtype = F32
    nums = promote(ctx, numbers, dtype)
    return Num(ctx.compute(op.name, *(n.value for n in nums)).value, nums[0].weak)


def _takes_floats_only(op: OpDef) -> bool:
    return not any(_takes(op, dtype) for dtype in (I32, U32))


def _takes(op: OpDef, dtype: DType) -> bool:
    try:
        op.typing([Scalar(dtype)] * len(op.operands), {})
    except RuleError:
        return False
    return True


def _where(ctx: Context, condition: Operand, a: Operand, b: Operand) -> Operand:
    truth = to_bool(ctx, condition)
    numbers = [number(ctx, a), number(ctx, b)]
    both_bool = all(is_bool(n) for n in numbers)
    x, y = promote(ctx, numbers, BOOL if both_bool else None)
    if isinstance(truth, Const):
        return x if truth.value else y
    shape = ctx.cover(truth.shape, x.shape)
    values = [broadcast(ctx, n, shape).value for n in (truth, x, y)]
    return Num(ctx.compute("select", *values).value, x.weak)


def _pow(ctx: Context, a: Operand, b: Operand) -> Operand:
    return _elementwise(ctx, OPS["pow"], [a, b])


def _cdiv(ctx: Context, a: Operand, b: Operand) -> Operand:
    """`a // b`, and one more where something is left over: so it rounds up for every sign."""
    numbers = [number(ctx, a), number(ctx, b)]
    for each in numbers:
        if common_dtype(ctx, [each]).is_float:
            raise ctx.refusal("E0301", f"`mk.cdiv` takes integers, not {describe(each)}", at=each)
    if isinstance(b, Const) and b.value == 0:
        raise ctx.refusal("E0701", "`mk.cdiv` by zero cannot be computed", at=b)
    if isinstance(a, Const) and isinstance(b, Const):
        return negate(ctx, binary(ctx, ast.FloorDiv(), negate(ctx, a), b))
    x, y = promote(ctx, numbers)
    lower = ctx.compute("floordiv", x.value, y.value)
    rest = ctx.compute("ne", ctx.compute("mul", lower.value, y.value).value, x.value)
    more = convert(ctx, rest, x.dtype)
    return Num(ctx.compute("add", lower.value, more.value).value, x.weak)


def _cast(ctx: Context, a: Operand, dtype: Operand) -> Operand:
    return to_dtype(ctx, a, dtype)


def to_dtype(ctx: Context, a: Operand, dtype: Operand) -> Operand:
    """`x.to(dtype)`."""
    wanted = static_dtype(ctx, dtype)
    num = number(ctx, a)
    if isinstance(num, Const) and not (isinstance(num.value, float) and wanted.is_int):
        return Num(materialize(ctx, num, wanted).value)
    if wanted.is_bool:
        truth = to_bool(ctx, num)
        return materialize(ctx, truth, BOOL)
    return convert(ctx, materialize(ctx, num), wanted)


def _bitcast(ctx: Context, a: Operand, dtype: Operand) -> Operand:
    num = materialize(ctx, number(ctx, a))
    return ctx.compute("bitcast", num.value, dtype=static_dtype(ctx, dtype))


# --- positions ----------------------------------------------------------------------------------


def _program_id(ctx: Context, axis: Operand = ZERO) -> Operand:
    return ctx.compute("program_id", axis=_grid_axis(ctx, axis))


def _num_programs(ctx: Context, axis: Operand = ZERO) -> Operand:
    return ctx.compute("num_programs", axis=_grid_axis(ctx, axis))


def _grid_axis(ctx: Context, axis: Operand) -> int:
    found = static_int(ctx, axis, "the axis")
    if not 0 <= found <= 2:
        raise ctx.refusal("E0511", f"a grid has the axes 0, 1 and 2, not {found}", at=axis)
    return found


def _arange(ctx: Context, start: Operand, stop: Operand) -> Operand:
    _use_position(ctx, "arange")
    first = static_int(ctx, start, "the start of `arange`")
    last = static_int(ctx, stop, "the end of `arange`")
    if last <= first:
        raise ctx.refusal("E0512", f"`arange({first}, {last})` is empty")
    return ctx.compute("arange", start=first, size=last - first)


def _tid(ctx: Context, start: Operand, stop: Operand) -> Operand:
    first = static_int(ctx, start, "the start of `tid`")
    last = static_int(ctx, stop, "the end of `tid`")
    if last <= first:
        raise ctx.refusal("E0512", f"`tid({first}, {last})` is empty")
    index = _thread(ctx, "thread_index", last - first)
    if first == 0:
        return index
    a, b = promote(ctx, [index, Const(first)])
    return ctx.compute("add", a.value, b.value)


def _local_id(ctx: Context, axis: Operand = ZERO) -> Operand:
    if static_int(ctx, axis, "the axis") != 0:
        raise ctx.refusal(
            "E0511",
            "a threadgroup has one axis, 0",
            at=axis,
            help="compute rows and columns: `t // WIDTH`, `t % WIDTH`",
        )
    return _thread(ctx, "thread_index", None)


def _lane_id(ctx: Context) -> Operand:
    return _thread(ctx, "lane_index", None)


def _sg_id(ctx: Context) -> Operand:
    return _thread(ctx, "simdgroup_index", None)


def _thread(ctx: Context, op: str, size: int | None) -> Num:
    """A position of threads; the first `tid`, or the launch, says how many there are."""
    _use_position(ctx, "tid")
    size = size or ctx.threads
    if size is None:
        raise ctx.refusal(
            "E0603",
            "the number of threads in a threadgroup is not given",
            help="use `mk.tid(0, BLOCK)` before, or launch with `_tptg=`",
        )
    if size > 1024:
        raise ctx.refusal("E0604", f"a threadgroup has at most 1024 threads, not {size}")
    if ctx.threads not in (None, size):
        raise ctx.refusal(
            "E0605",
            f"this kernel has {ctx.threads} threads, not {size}",
            label=f"{size} threads",
            secondary=[Label(ctx.positions["tid"], f"{ctx.threads} threads")],
        )
    ctx.threads = size
    return ctx.compute(op, size=size)


def _use_position(ctx: Context, kind: str) -> None:
    other = {"arange": "tid", "tid": "arange"}[kind]
    ctx.positions.setdefault(kind, ctx.loc)
    if other in ctx.positions:
        raise ctx.refusal(
            "E0606",
            "`arange` and `tid` do not mix in one kernel",
            secondary=[Label(ctx.positions[other], f"`{other}` is used here")],
            notes=("with `arange` a kernel is written for blocks, with `tid` for one thread",),
            help="in a kernel for threads, the lanes are `mk.tid(0, BLOCK)`",
        )


# --- blocks -------------------------------------------------------------------------------------


def _zeros(ctx: Context, shape: Operand, dtype: Operand = FLOAT) -> Operand:
    return _full(ctx, shape, Const(0), dtype)


def _full(ctx: Context, shape: Operand, value: Operand, dtype: Operand = FLOAT) -> Operand:
    wanted = static_dtype(ctx, dtype)
    filled = materialize(ctx, number(ctx, value), wanted)
    return Num(broadcast(ctx, filled, static_shape(ctx, shape)).value)


def _zeros_like(ctx: Context, a: Operand) -> Operand:
    return _full_like(ctx, a, Const(0))


def _full_like(ctx: Context, a: Operand, value: Operand) -> Operand:
    num = runtime_number(ctx, a)
    filled = materialize(ctx, number(ctx, value), num.dtype)
    return Num(broadcast(ctx, filled, num.shape).value)


def _reshape(ctx: Context, a: Operand, shape: Operand) -> Operand:
    num, new = runtime_number(ctx, a), static_shape(ctx, shape)
    if num.shape == new:
        return num
    if count(num.shape) != count(new):
        raise ctx.refusal(
            "E0516",
            f"{describe(num)} has {count(num.shape)} elements, {list(new)} has {count(new)}",
            at=shape,
            help="a reshape keeps all elements, in their order",
        )
    require_all_lanes(ctx, "`mk.reshape`")
    return ctx.compute("reshape", num.value, shape=new)


def _ravel(ctx: Context, a: Operand) -> Operand:
    num = runtime_number(ctx, a)
    return _reshape(ctx, num, Const((count(num.shape),)))


def _expand_dims(ctx: Context, a: Operand, axis: Operand) -> Operand:
    num = runtime_number(ctx, a)
    place = static_int(ctx, axis, "the axis")
    rank = len(num.shape) + 1
    if not -rank <= place < rank:
        raise ctx.refusal("E0511", f"{describe(num)} has no place for an axis {place}", at=axis)
    return ctx.compute("expand_dims", num.value, axis=place % rank)


def _broadcast_to(ctx: Context, a: Operand, shape: Operand) -> Operand:
    num, new = materialize(ctx, number(ctx, a)), static_shape(ctx, shape)
    if num.shape and broadcast_shapes(num.shape, new) != new:
        raise ctx.refusal(
            "E0304",
            f"{describe(num)} cannot be broadcast to {list(new)}",
            at=shape,
            help="it keeps its rank, and only extents of 1 grow: `x[:, None]`, `x[None, :]`",
        )
    return Num(broadcast(ctx, num, new).value)


def _trans(ctx: Context, a: Operand) -> Operand:
    num = runtime_number(ctx, a)
    if len(num.shape) != 2:
        raise ctx.refusal(
            "E0513",
            f"`mk.trans` takes a block of 2 axes, not {describe(num)}",
            at=a,
            help="use `mk.permute`, which takes the order of the axes",
        )
    return _permute(ctx, num, Const((1, 0)))


def _permute(ctx: Context, a: Operand, axes: Operand) -> Operand:
    num = runtime_number(ctx, a)
    rank = len(num.shape)
    given = static_ints(ctx, axes, "the axes")
    order = tuple(axis + rank if axis < 0 else axis for axis in given)
    if sorted(order) != list(range(rank)):
        words = f"{list(given)} is no order of the {rank} axes of {describe(num)}"
        raise ctx.refusal("E0511", words, at=axes)
    require_all_lanes(ctx, "`mk.permute`")
    return ctx.compute("permute", num.value, axes=order)


def _reduce(
    ctx: Context,
    name: str,
    shown: str,
    a: Operand,
    axis: Operand = NONE,
    keep_dims: Operand = FALSE,
) -> Operand:
    """A reduction over one axis, or over all lanes."""
    num = runtime_number(ctx, a)
    require_all_lanes(ctx, shown)
    if name in ("reduce_any", "reduce_all"):
        truth = to_bool(ctx, num)
        assert isinstance(truth, Num)
        num = truth
    place = None if axis == NONE else static_axis(ctx, axis, num)
    if len(num.shape) == 1:
        place = None
    reduced = ctx.compute(name, num.value, axis=place)
    if not isinstance(keep_dims, Const) or not keep_dims.value:
        return reduced
    if place is None:
        return broadcast(ctx, reduced, tuple(1 for _ in num.shape))
    return ctx.compute("expand_dims", reduced.value, axis=place)


# --- memory -------------------------------------------------------------------------------------


def _load(
    ctx: Context,
    ptr: Operand,
    offs: Operand = NONE,
    mask: Operand = NONE,
    other: Operand | None = None,
    boundary_check: Operand = EMPTY,
    padding: Operand = ZEROS,
) -> Operand:
    if block_pointers.is_block_pointer(ptr):
        _refuse_places(ctx, offs, mask)
        return block_pointers.load(ctx, ptr, boundary_check, padding)
    _refuse_checks(ctx, (boundary_check, EMPTY), (padding, ZEROS))
    return memory.load(ctx, ptr, mask, other, None if offs == NONE else offs)


def _store(
    ctx: Context,
    ptr: Operand,
    offs: Operand = NONE,
    value: Operand = NONE,
    mask: Operand = NONE,
    boundary_check: Operand = EMPTY,
) -> Operand:
    if value == NONE and not isinstance(ptr, Array):  # store(a + offs, value)
        offs, value = NONE, offs
    if value == NONE:
        raise _nothing_to_store(ctx, ptr, offs)
    if block_pointers.is_block_pointer(ptr):
        _refuse_places(ctx, offs, mask)
        block_pointers.store(ctx, ptr, value, boundary_check)
        return NONE
    _refuse_checks(ctx, (boundary_check, EMPTY))
    memory.store(ctx, ptr, value, mask, None if offs == NONE else offs)
    return NONE


def _refuse_places(ctx: Context, offs: Operand, mask: Operand) -> None:
    for operand in (offs, mask):
        if operand != NONE:
            raise ctx.refusal(
                "E0509",
                "a block pointer has its own offsets and bounds",
                at=operand,
                help="move it with `mk.advance`, and give `boundary_check` the axes to check",
            )


def _refuse_checks(ctx: Context, *options: tuple[Operand, Operand]) -> None:
    for given, default in options:
        if given != default:
            raise ctx.refusal(
                "E0509",
                "only a block pointer knows the bounds that are to be checked",
                at=given,
                help="make one with `mk.make_block_ptr`, or give a `mask`",
            )


def _nothing_to_store(ctx: Context, ptr: Operand, offs: Operand) -> Exception:
    """A bare array and one more argument: is that an offset or the value?"""
    array = ctx.written_at(ctx.place(ptr)) or "array"
    given = "" if offs == NONE else ctx.written_at(ctx.place(offs))
    ways = (f"`mk.store({array}, {given or 'i'}, x)` stores `x` there",)
    if given:
        ways += (f"`mk.store({array}, 0, {given})` stores `{given}` in the first element",)
    return ctx.refusal(
        "E0413",
        "`mk.store` lacks the argument `value`",
        notes=("it is `mk.store(ptr, offs, value, mask=None)`",),
        help=ways,
    )


def _atomic(
    ctx: Context,
    kind: AtomicKind,
    ptr: Operand,
    offs: Operand,
    value: Operand,
    mask: Operand = NONE,
    expected: Operand | None = None,
) -> Operand:
    kind = cast(AtomicKind, str(kind).rstrip("_"))
    return memory.atomic(ctx, kind, ptr, offs, value, mask, expected)


def _alloc_tg(ctx: Context, shape: Operand, dtype: Operand) -> Operand:
    """Threadgroup memory; its name is the one that it is assigned to."""
    extents = static_shape(ctx, shape)
    ctx.check_size(extents)
    if ctx.targets[1:] and any(target.kind == "loop" for target in ctx.targets):
        raise ctx.refusal(
            "E0607",
            "threadgroup memory is allocated in a loop",
            help="allocate it before the loop; its content is not kept anyway",
        )
    require_all_lanes(ctx, "`mk.alloc_tg`")
    pointer = ctx.build.alloc(count(extents), static_dtype(ctx, dtype))
    return Array(UNNAMED, pointer, len(extents), extents)


def _barrier(ctx: Context) -> Operand:
    require_all_lanes(ctx, "`mk.barrier`")
    ctx.build.emit(Barrier(ctx.loc))
    return NONE


def _simd(ctx: Context, name: str, a: Operand, lane: Operand = NONE) -> Operand:
    """What the lanes of a simdgroup do together; each thread has a value."""
    if ctx.threads is None or "arange" in ctx.positions:
        raise ctx.refusal(
            "E0603",
            f"`mk.{name}` is for kernels that are written for threads",
            help="use `mk.tid(0, BLOCK)` before; for blocks there is `mk.sum` and its like",
        )
    _use_position(ctx, "tid")
    require_all_lanes(ctx, f"`mk.{name}`")
    num = runtime_number(ctx, a)
    if name in ("simd_any", "simd_all"):
        num = materialize(ctx, to_bool(ctx, num), BOOL)
    values = [broadcast(ctx, num, (ctx.threads,)).value]
    if lane != NONE:
        place = materialize(ctx, number(ctx, lane, "the number of a lane"), I32)
        values.append(broadcast(ctx, place, (ctx.threads,)).value)
    return ctx.compute(name, *values)


# --- compile time -------------------------------------------------------------------------------


def _static_range(ctx: Context, bounds: tuple[Operand, ...] = ()) -> Operand:
    numbers = [static_int(ctx, b, "a bound of `static_range`") for b in bounds]
    if not numbers:
        raise ctx.refusal("E0413", "`mk.static_range` lacks its bounds")
    if len(numbers) > 3:
        raise ctx.refusal(
            "E0427", f"`mk.static_range` takes 3 bounds, {len(numbers)} are given", at=bounds[3]
        )
    if len(numbers) == 3 and numbers[2] == 0:
        raise ctx.refusal("E0420", "the step of a range must not be zero", at=bounds[2])
    return Const(range(*numbers))


def _static_assert(ctx: Context, condition: Operand, message: Operand = NO_TEXT) -> Operand:
    truth = to_bool(ctx, condition)
    if not isinstance(truth, Const):
        raise ctx.refusal(
            "E0705",
            "the condition of `mk.static_assert` is known at run time only",
            at=condition,
            help="use `assert`, which checks on the device",
        )
    if not truth.value:
        text = str(message.value) if isinstance(message, Const) else ""
        words = f"static assertion failed{': ' * bool(text)}{text}"
        raise ctx.refusal("E0706", words, at=condition, label="false")
    return NONE


def _static_print(ctx: Context, parts: tuple[Operand, ...] = ()) -> Operand:
    words: list[str] = []
    for part in parts:
        if isinstance(part, Const | Tuple):
            texts = message_parts(ctx, part)
            words.append("".join(t if isinstance(t, str) else str(t.ty) for t in texts))
        else:
            words.append(describe(part))
    ctx.messages.append(" ".join(words))
    return NONE


# --- hints --------------------------------------------------------------------------------------


def _assume(ctx: Context, condition: Operand) -> Operand:
    """A promise: the interpreter checks it, other backends count on it."""
    truth = to_bool(ctx, condition)
    if isinstance(truth, Const) and truth.value:
        return NONE
    num = materialize(ctx, truth, BOOL)
    spread = broadcast(ctx, num, ctx.cover(num.shape, ctx.split_shape()))
    ctx.build.emit(Assert(spread.value, "an assumption does not hold", ctx.loc, is_assumed=True))
    return NONE


def _multiple_of(ctx: Context, a: Operand, factor: Operand) -> Operand:
    by = static_int(ctx, factor, "the factor")
    if by < 1:
        raise ctx.refusal("E0705", f"the factor is at least 1, not {by}", at=factor)
    num = runtime_number(ctx, a)
    x, y = promote(ctx, [num, Const(by)])
    rest = ctx.compute("mod", x.value, y.value)
    zero = broadcast(ctx, Num(ctx.build.constant(0, rest.dtype)), rest.shape)
    _assume(ctx, ctx.compute("eq", rest.value, zero.value))
    return a


HANDLERS: dict[str, Handler] = {
    "select": _where,
    "pow": _pow,
    "cdiv": _cdiv,
    "cast": _cast,
    "bitcast": _bitcast,
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "tid": _tid,
    "local_id": _local_id,
    "lane_id": _lane_id,
    "sg_id": _sg_id,
    "zeros": _zeros,
    "full": _full,
    "zeros_like": _zeros_like,
    "full_like": _full_like,
    "reshape": _reshape,
    "ravel": _ravel,
    "expand_dims": _expand_dims,
    "broadcast_to": _broadcast_to,
    "trans": _trans,
    "permute": _permute,
    "load": _load,
    "store": _store,
    "alloc_tg": _alloc_tg,
    "barrier": _barrier,
    "static_range": _static_range,
    "static_assert": _static_assert,
    "static_print": _static_print,
    "assume": _assume,
    "multiple_of": _multiple_of,
    **SHAPES,
    **RANDOMS,
    **MATRICES,
    **FRAGMENTS,
    **block_pointers.BLOCK_POINTERS,
}
