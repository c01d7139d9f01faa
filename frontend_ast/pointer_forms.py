"""Which argument is which: `store(a, offs, value, mask)`, or `store(a + offs, value, mask)`.

An array is followed by offsets. A block of pointers has its offsets, so that a mask or a value
comes next. A pointer with one offset (`row = a + start`) may be followed by either: an offset is an
int and a mask a bool, so their types say which is meant, or else the names have to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from eas.frontend_ast.block_pointers import is_block_pointer
from eas.frontend_ast.call_binding import Given, argument
from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.operands import NONE, Array, ArrayPointer, Const, Num, Operand
from eas.frontend_ast.promote import describe
from eas.ir.nodes import AtomicKind
from eas.support.diagnostics import Fix
from eas.support.records import replace

# The values that stand between the offsets and the mask.
_VALUES: dict[str, tuple[str, ...]] = {
    "load": (),
    "store": ("value",),
    **{f"atomic_{kind}": ("value",) for kind in get_args(AtomicKind)},
    "atomic_cas": ("expected", "value"),
}


def with_offsets(ctx: Context, name: str, given: Given) -> Given:
    """The arguments of an access, with `None` for offsets that the pointer has already."""
    if name not in _VALUES or "offs" in given.named:
        return given
    if "ptr" in given.named and not isinstance(given.named["ptr"], Array):
        return replace(given, named=given.named | {"offs": NONE})
    match given.positional:
        case (Array(), *rest):
            _require_values(ctx, name, rest, given)
        case (ptr, *rest) if _has_its_offsets(ctx, name, ptr, rest, given):
            return replace(given, positional=(ptr, NONE, *rest))
        case (Num() | Const(), *rest) if any(isinstance(o, Array | ArrayPointer) for o in rest):
            raise _out_of_order(ctx, name, given)
        case _:
            pass
    return given


def _out_of_order(ctx: Context, name: str, given: Given) -> Exception:
    """The array or pointer is not the first argument."""
    written = dict(zip(given.positional, _written(ctx, given), strict=True))
    rest = list(given.positional)
    ptr = next(o for o in rest if isinstance(o, Array | ArrayPointer))
    rest.remove(ptr)
    if isinstance(ptr, Array):
        rest.sort(key=lambda operand: not _is_int(operand))
    ordered = ", ".join(written[operand] for operand in (ptr, *rest))
    return ctx.refusal(
        "E0509",
        f"`mk.{name}` takes an array or a pointer first, this is {describe(given.positional[0])}",
        at=argument(given, 0),
        help=_reordered(ctx, name, given, ordered),
    )


def _reordered(ctx: Context, name: str, given: Given, ordered: str) -> Fix | str:
    help = f"change the order: `mk.{name}({ordered})`"
    call = given.node
    if call.keywords or len(call.args) != len(given.positional):
        return help
    first, last = (ctx.frame.loc(argument) for argument in (call.args[0], call.args[-1]))
    return rewrite(
        help, replace(first, end_line=last.end_line, end_column=last.end_column), ordered
    )


def _has_its_offsets(
    ctx: Context, name: str, ptr: Operand, rest: Sequence[Operand], given: Given
) -> bool:
    if not isinstance(ptr, ArrayPointer):
        return is_block_pointer(ptr)
    if not rest:
        return True
    if name == "load":
        return _begins_with_mask(ctx, rest, given)
    places = [value for value in _VALUES[name] if value not in given.named]
    if len(rest) != len(places) + 1 or len(places) < len(_VALUES[name]):
        return len(rest) <= len(places)
    return _begins_with_value(ctx, name, ptr, rest, given)


def _begins_with_mask(ctx: Context, rest: Sequence[Operand], given: Given) -> bool:
    """Whether the argument after a pointer is a mask rather than an offset."""
    if rest[0] != NONE or len(rest) == 1:
        return _is_mask(rest[0])
    if len(rest) == 2 and _is_mask(rest[1]) and rest[1] != NONE:
        raise _unclear(ctx, "load", given)
    return not _is_mask(rest[1])


def _begins_with_value(
    ctx: Context, name: str, ptr: ArrayPointer, rest: Sequence[Operand], given: Given
) -> bool:
    """Whether these are values and a mask, rather than an offset and values."""
    first, last = rest[0], rest[-1]
    if not _is_int(first) or not _is_mask(last) or "mask" in given.named:
        return not _is_int(first)
    is_for_threads = ctx.is_for_threads or "tid" in ctx.positions
    if not is_for_threads and (_is_block(ptr.offset) or _is_block(first)):
        return _is_block(ptr.offset)
    raise _unclear(ctx, name, given)


def _unclear(ctx: Context, name: str, given: Given) -> Exception:
    ptr, *rest = _written(ctx, given)
    without = (*_VALUES[name], "mask", "other")[: len(rest)]
    behind = ("offs", *_VALUES[name], "mask")[: len(rest)]
    forms = [
        ", ".join(f"{key}={text}" for key, text in zip(names, rest, strict=True))
        for names in (without, behind)
    ]
    return ctx.refusal(
        "E0431",
        f"`{rest[0]}` may be an offset or the argument `{without[0]}`",
        at=argument(given, 1),
        notes=(
            f"`{ptr}` has an offset, and `{rest[-1]}` may be `{without[-1]}` or `{behind[-1]}`",
        ),
        help=[_by_name(ctx, f"mk.{name}({ptr}, {form})", given) for form in forms],
    )


def _by_name(ctx: Context, call: str, given: Given) -> Fix | str:
    help, node = f"say it by name: `{call}`", given.node
    is_whole = all(map(ctx.text, node.args)) and not node.keywords
    return rewrite(help, ctx.frame.loc(node), call) if is_whole else help


def _written(ctx: Context, given: Given) -> list[str]:
    """The arguments as the kernel has them."""
    return [ctx.text(argument(given, place)) or "x" for place in range(len(given.positional))]


def _is_int(operand: Operand) -> bool:
    match operand:
        case Num():
            return operand.dtype.is_int
        case Const(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case _:
            return False


def _is_mask(operand: Operand) -> bool:
    match operand:
        case Num():
            return operand.dtype.is_bool
        case Const(value=value):
            return value is None or isinstance(value, bool)
        case _:
            return False


def _is_block(operand: Operand) -> bool:
    return isinstance(operand, Num) and bool(operand.shape)


def _require_values(ctx: Context, name: str, rest: Sequence[Operand], given: Given) -> None:
    """Of a bare array and one argument too few: is the first an offset or a value?"""
    values = _VALUES[name]
    if not rest or len(rest) != len(values) or given.named.keys() & {*values}:
        return
    array, *written = _written(ctx, given)
    more = ", ".join(written)
    raise ctx.refusal(
        "E0413",
        f"`mk.{name}` lacks the argument `value`",
        notes=(f"it is `mk.{name}(ptr, offs, {', '.join(values)}, mask=None)`",),
        help=(
            f"`mk.{name}({array}, {more}, x)` if `{written[0]}` is the offset",
            f"`mk.{name}({array}, 0, {more})` if it is the {values[0]}, for the first element",
        ),
    )
