"""What is done while a kernel is compiled, and what is promised to the compiler."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.builtins import message_parts
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import NONE, Array, ArrayPointer, Const, Num, Operand, Tuple
from eas.frontend_ast.promote import broadcast, describe, materialize, promote, to_bool
from eas.frontend_ast.static import runtime_number, static_int
from eas.ir.nodes import Assert
from eas.ir.types import BOOL

NO_TEXT = Const("")


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
    if isinstance(a, Array | ArrayPointer):
        raise ctx.refusal(
            "E0302",
            f"`mk.multiple_of` is about numbers, this is {describe(a)}",
            at=a,
            help="leave it out: where an array begins changes nothing",
        )
    num = runtime_number(ctx, a)
    x, y = promote(ctx, [num, Const(by)])
    rest = ctx.compute("mod", x.value, y.value)
    zero = broadcast(ctx, Num(ctx.build.constant(0, rest.dtype)), rest.shape)
    _assume(ctx, ctx.compute("eq", rest.value, zero.value))
    return a


COMPILE_TIME: dict[str, Callable[..., Operand]] = {
    "static_range": _static_range,
    "static_assert": _static_assert,
    "static_print": _static_print,
    "assume": _assume,
    "multiple_of": _multiple_of,
}
