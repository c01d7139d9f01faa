"""Algebraic identities that hold exactly, for every bit of every operand, one rule per op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eas.ir.nodes import Compute, Value
from eas.ir.ops.arithmetic import OPPOSITES
from eas.ir.ops.record import Attr
from eas.ir.passes.purity import Literal
from eas.ir.types import DType
from eas.support.records import frozen


@frozen
class Instead:
    """Another op that gives the same result; its operands may have to be made first."""

    name: str
    operands: tuple[Value | Instead, ...]
    attrs: tuple[tuple[str, Attr], ...] = ()


Simpler = Value | Literal | Instead | None
Literals = Sequence[Literal | None]
Makers = Mapping[int, Compute]
Rule = Callable[[Compute, Literals, Makers], Simpler]


def simplify(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    """A value, a literal or an op that is equal to this one, if a rule knows of any.

    `literals` are the operands that are known, `makers` the op that made each value, by its id.
    """
    rule = _RULES.get(op.op.name)
    return None if rule is None else rule(op, literals, makers)


def _add(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.result.ty.dtype.is_float:  # -0.0 + 0.0 is 0.0
        return None
    return _neutral(op, literals, 0)


def _sub(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.result.ty.dtype.is_float:
        return None
    if op.operands[0] == op.operands[1]:
        return 0
    return op.operands[0] if literals[1] == 0 else None


def _mul(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.result.ty.dtype.is_int and 0 in literals:
        return 0
    return _neutral(op, literals, 1)


def _divide(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    is_exact = op.op.name == "div" or op.result.ty.dtype.is_int
    return op.operands[0] if is_exact and literals[1] == 1 else None


def _remainder(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    return 0 if op.result.ty.dtype.is_int and literals[1] == 1 else None


def _shift(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    return op.operands[0] if literals[1] == 0 else None


def _extreme(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals, makers
    return op.operands[0] if op.operands[0] == op.operands[1] else None


def _twice(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals
    inner = makers.get(op.operands[0].id)
    return inner.operands[0] if inner is not None and inner.op is op.op else None


def _neutral(op: Compute, literals: Literals, neutral: Literal) -> Simpler:
    if literals[0] == neutral:
        return op.operands[1]
    return op.operands[0] if literals[1] == neutral else None


def _and(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.operands[0] == op.operands[1]:
        return op.operands[0]
    if _no_bits(op) in literals:
        return _no_bits(op)
    return _neutral(op, literals, _all_bits(op))


def _or(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.operands[0] == op.operands[1]:
        return op.operands[0]
    if _all_bits(op) in literals:
        return _all_bits(op)
    return _neutral(op, literals, _no_bits(op))


def _xor(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    if op.operands[0] == op.operands[1]:
        return _no_bits(op)
    if (other := _neutral(op, literals, _all_bits(op))) is not None:
        assert isinstance(other, Value)
        return Instead("not", (other,))
    return _neutral(op, literals, _no_bits(op))


def _all_bits(op: Compute) -> Literal:
    dtype = op.result.ty.dtype
    return True if dtype.is_bool else -1 if dtype.is_signed else dtype.max


def _no_bits(op: Compute) -> Literal:
    return False if op.result.ty.dtype.is_bool else 0


def _not(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals
    inner = makers.get(op.operands[0].id)
    if inner is None:
        return None
    if inner.op.name == "not":
        return inner.operands[0]
    opposite = OPPOSITES.get(inner.op.name)
    if opposite is None:
        return None
    # Of a NaN and a number neither `<` nor `>=` holds.
    is_exact = not inner.operands[0].ty.dtype.is_float or inner.op.name in ("eq", "ne")
    return Instead(opposite, inner.operands) if is_exact else None


def _compare(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del makers
    a, b = op.operands
    if a == b and not a.ty.dtype.is_float:
        return op.op.name in ("eq", "le", "ge")
    if not a.ty.dtype.is_bool:
        return None
    wanted = op.op.name == "eq"
    for other, literal in ((b, literals[0]), (a, literals[1])):
        if literal is not None:
            return other if literal is wanted else Instead("not", (other,))
    return None


def _select(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    condition, a, b = op.operands
    if literals[0] is not None:
        return a if literals[0] else b
    if a == b:
        return a
    if op.result.ty.dtype.is_bool and (simpler := _select_bool(op, literals)) is not None:
        return simpler
    inner = makers.get(condition.id)
    if inner is not None and inner.op.name == "not":
        return Instead("select", (inner.operands[0], b, a))
    return None


def _select_bool(op: Compute, literals: Literals) -> Simpler:
    condition, a, b = op.operands
    match literals[1], literals[2]:
        case True, False:
            return condition
        case False, True:
            return Instead("not", (condition,))
        case True, None:
            return Instead("or", (condition, b))
        case None, False:
            return Instead("and", (condition, a))
        case False, None:
            return Instead("and", (Instead("not", (condition,)), b))
        case None, True:
            return Instead("or", (Instead("not", (condition,)), a))
        case _:
            return None


def _cast(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals
    (operand,) = op.operands
    target = op.result.ty.dtype
    if operand.ty.dtype == target:
        return operand
    inner = makers.get(operand.id)
    if inner is None or inner.op is not op.op:
        return None
    source = inner.operands[0]
    if not _holds(operand.ty.dtype, source.ty.dtype):
        return None
    return source if source.ty.dtype == target else Instead("cast", (source,), op.attrs)


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether every number of one dtype is one of the other, and casts to both agree."""
    if wide.is_float or narrow.is_float:
        return wide.is_float and narrow.is_float and wide.bits > narrow.bits
    return not wide.is_bool and wide.min <= narrow.min and narrow.max <= wide.max


def _bitcast(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals
    (operand,) = op.operands
    if operand.ty == op.result.ty:
        return operand
    inner = makers.get(operand.id)
    if inner is None or inner.op is not op.op:
        return None
    source = inner.operands[0]
    return source if source.ty == op.result.ty else Instead("bitcast", (source,), op.attrs)


def _reshape(op: Compute, literals: Literals, makers: Makers) -> Simpler:
    del literals
    (operand,) = op.operands
    if operand.ty == op.result.ty and _keeps_places(op):
        return operand
    inner = makers.get(operand.id)
    if inner is not None and inner.op.name == "splat":
        return Instead("splat", inner.operands, (("shape", op.result.shape),))
    return None


def _keeps_places(op: Compute) -> bool:
    """Whether a view whose result has the operand's shape leaves every element where it is."""
    if op.op.name == "permute":
        return op.attr("axes") == tuple(range(len(op.result.shape)))
    return op.op.name != "slice" or op.attr("steps") == (1,) * len(op.result.shape)


_RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _divide,
    "floordiv": _divide,
    "truncdiv": _divide,
    "mod": _remainder,
    "truncmod": _remainder,
    "shl": _shift,
    "shr": _shift,
    "minimum": _extreme,
    "maximum": _extreme,
    "neg": _twice,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "not": _not,
    **dict.fromkeys(OPPOSITES, _compare),
    "select": _select,
    "cast": _cast,
    "bitcast": _bitcast,
    **dict.fromkeys(("broadcast", "expand_dims", "reshape", "permute", "slice"), _reshape),
}
