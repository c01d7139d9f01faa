"""Where a program, a lane or a thread stands: `program_id`, `arange`, `tid` and their like."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.operands import ZERO, Const, Num, Operand
from eas.frontend_ast.promote import promote
from eas.frontend_ast.static import static_int
from eas.frontend_ast.suggestions import indices_from
from eas.support.diagnostics import Fix, Label


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
    use_position(ctx, "arange")
    first = static_int(ctx, start, "the start of `arange`", _moved(ctx, start, stop))
    last = static_int(ctx, stop, "the end of `arange`")
    if last <= first:
        raise ctx.refusal("E0512", f"`arange({first}, {last})` is empty")
    return ctx.compute("arange", start=first, size=last - first)


def _moved(ctx: Context, start: Operand, stop: Operand) -> tuple[Fix, ...]:
    """A block that begins at a number of run time is one that begins at 0, and the number added."""
    low, high = (ctx.written_at(ctx.place(bound)) for bound in (start, stop))
    is_known = isinstance(start, Const) or not low or not high
    if is_known:
        return ()
    meant = indices_from(low, high)
    return (rewrite(f"add the start: `{meant}`", ctx.loc, f"({meant})"),)


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
    use_position(ctx, "tid")
    size = size or ctx.known_threads()
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


def use_position(ctx: Context, kind: str) -> None:
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


POSITIONS: dict[str, Callable[..., Operand]] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "tid": _tid,
    "local_id": _local_id,
    "lane_id": _lane_id,
    "sg_id": _sg_id,
}
