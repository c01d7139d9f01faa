"""The forms in which a kernel reads and writes memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from eas.frontend_ast import block_pointers, memory
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import EMPTY, NONE, UNNAMED, Array, Const, Operand
from eas.frontend_ast.promote import describe
from eas.frontend_ast.static import static_dtype, static_shape
from eas.ir.nodes import AtomicKind, Barrier
from eas.ir.types import F16, F32, count

ZEROS = Const("zero")
_F32 = Const(F32)
_HINTS = {
    "eviction_policy": ("", "evict_first", "evict_last", "evict_normal"),
    "cache_modifier": ("", ".ca", ".cg", ".cs", ".wb", ".wt"),
}


def _load(
    ctx: Context,
    ptr: Operand,
    offs: Operand = NONE,
    mask: Operand = NONE,
    other: Operand | None = None,
    boundary_check: Operand = EMPTY,
    padding: Operand = ZEROS,
    **hints: Operand,
) -> Operand:
    _check_hints(ctx, hints)
    if block_pointers.is_block_pointer(ptr):
        _refuse_places(ctx, offs, mask, other or NONE)
        return block_pointers.load(ctx, ptr, boundary_check, padding)
    _refuse_checks(ctx, (boundary_check, EMPTY), (padding, ZEROS))
    return memory.load(ctx, ptr, mask, other, None if offs == NONE else offs)


def _store(
    ctx: Context,
    ptr: Operand,
    offs: Operand,
    value: Operand,
    mask: Operand = NONE,
    boundary_check: Operand = EMPTY,
    **hints: Operand,
) -> Operand:
    _check_hints(ctx, hints)
    if block_pointers.is_block_pointer(ptr):
        _refuse_places(ctx, offs, mask)
        block_pointers.store(ctx, ptr, value, boundary_check)
        return NONE
    _refuse_checks(ctx, (boundary_check, EMPTY))
    memory.store(ctx, ptr, value, mask, None if offs == NONE else offs)
    return NONE


def _check_hints(ctx: Context, hints: Mapping[str, Operand]) -> None:
    """Refuses unknown cache hints. Known ones change no result."""
    for name, given in hints.items():
        if not isinstance(given, Const) or given.value not in _HINTS[name]:
            known = " or ".join(f'"{value}"' for value in _HINTS[name])
            raise ctx.refusal(
                "E0705",
                f"`{name}` is {known}, not {describe(given)}",
                at=given,
                help="leave it out: it changes no result",
            )


def _refuse_places(ctx: Context, *given: Operand) -> None:
    for operand in given:
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


def _atomic(kind: AtomicKind) -> Callable[..., Operand]:
    """`mk.atomic_add` and its like."""

    def lower(
        ctx: Context,
        ptr: Operand,
        offs: Operand,
        value: Operand,
        mask: Operand = NONE,
        expected: Operand | None = None,
    ) -> Operand:
        at = None if offs == NONE else offs
        return memory.atomic(ctx, kind, ptr, at, value, mask, expected)

    return lower


def _alloc_tg(ctx: Context, shape: Operand, dtype: Operand = _F32) -> Operand:
    """Threadgroup memory; its name is the one that it is assigned to."""
    extents = static_shape(ctx, shape)
    ctx.check_size(extents)
    if ctx.targets[1:] and any(target.kind == "loop" for target in ctx.targets):
        raise ctx.refusal(
            "E0607",
            "threadgroup memory is allocated in a loop",
            help="allocate it before the loop; its content does not survive a trip anyway",
        )
    require_all_lanes(ctx, "`mk.alloc_tg`")
    pointer = ctx.build.alloc(count(extents), static_dtype(ctx, dtype))
    return Array(UNNAMED, pointer, len(extents), extents)


def _alloc_tg_f16(ctx: Context, size: Operand) -> Operand:
    return _alloc_tg(ctx, size, Const(F16))


def _barrier(ctx: Context) -> Operand:
    require_all_lanes(ctx, "`mk.barrier`")
    ctx.build.emit(Barrier(ctx.loc))
    return NONE


ACCESSES: dict[str, Callable[..., Operand]] = {
    "load": _load,
    "store": _store,
    "alloc_tg": _alloc_tg,
    "alloc_tg_f16": _alloc_tg_f16,
    "barrier": _barrier,
    **{f"atomic_{kind}": _atomic(kind) for kind in get_args(AtomicKind)},
}
