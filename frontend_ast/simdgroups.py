"""What the threads of a simdgroup do together: `simd_sum`, `simd_shuffle` and their like."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Num, Operand
from eas.frontend_ast.positions import use_position
from eas.frontend_ast.promote import broadcast, materialize, number, to_bool
from eas.frontend_ast.static import runtime_number
from eas.ir.ops.simdgroup import EXCHANGES
from eas.ir.types import BOOL, I32


def _reduction(name: str) -> Callable[..., Operand]:
    def lower(ctx: Context, a: Operand) -> Operand:
        return ctx.compute(name, _of_each_thread(ctx, name, a).value)

    return lower


def _vote(name: str) -> Callable[..., Operand]:
    def lower(ctx: Context, a: Operand) -> Operand:
        num = _of_each_thread(ctx, name, a)
        return ctx.compute(name, materialize(ctx, to_bool(ctx, num), BOOL).value)

    return lower


def _exchange(name: str) -> Callable[..., Operand]:
    """A value of another lane; which one, each thread says for itself."""

    def lower(ctx: Context, a: Operand, **named: Operand) -> Operand:
        num = _of_each_thread(ctx, name, a)
        [lane] = named.values()
        place = materialize(ctx, number(ctx, lane, "the number of a lane"), I32)
        return ctx.compute(name, num.value, broadcast(ctx, place, num.shape).value)

    return lower


def _of_each_thread(ctx: Context, name: str, a: Operand) -> Num:
    threads = None if "arange" in ctx.positions else ctx.known_threads()
    if threads is None:
        raise ctx.refusal(
            "E0603",
            f"`mk.{name}` is for kernels that are written for threads",
            help="use `mk.tid(0, BLOCK)` before; for blocks there is `mk.sum` and its like",
        )
    use_position(ctx, "tid")
    require_all_lanes(ctx, f"`mk.{name}`")
    return broadcast(ctx, runtime_number(ctx, a), (threads,))


SIMDGROUPS: dict[str, Callable[..., Operand]] = {
    **{name: _reduction(name) for name in ("simd_sum", "simd_max", "simd_min")},
    **{name: _vote(name) for name in ("simd_any", "simd_all")},
    **{op.name: _exchange(op.name) for op in EXCHANGES},
}
