"""Code that an error suggests: pieces of the kernel's text, written another way."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def indices_from(low: str, high: str) -> str:
    """The block of indices of `low:high`, where `low` is known at run time only.

    >>> indices_from("p * BLOCK", "(p + 1) * BLOCK")
    'p * BLOCK + mk.arange(0, BLOCK)'
    """
    return f"{low} + mk.arange(0, {_distance(low, high) or 'BLOCK'})"


def _distance(low: str, high: str) -> str | None:
    """How far apart two bounds are, if their text shows it."""
    try:
        first, last = (ast.parse(text, mode="eval").body for text in (low, high))
    except SyntaxError:
        return None
    match last, first:
        case ast.BinOp(left=base, op=ast.Add(), right=step), _ if _is_same(base, first):
            return ast.unparse(step)
        case ast.BinOp(left=step, op=ast.Add(), right=base), _ if _is_same(base, first):
            return ast.unparse(step)
        case (
            ast.BinOp(left=ast.BinOp(op=ast.Add()) as next_one, op=ast.Mult(), right=size),
            ast.BinOp(left=one, op=ast.Mult(), right=same),
        ) if _is_same(size, same) and _is_next(one, next_one):
            return ast.unparse(size)
        case _:
            return None


def _is_next(one: ast.expr, other: ast.expr) -> bool:
    return _is_same(other, ast.BinOp(one, ast.Add(), ast.Constant(1)))


def _is_same(a: ast.expr, b: ast.expr) -> bool:
    return ast.dump(a) == ast.dump(b)


_JOINING: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|"}


def with_parentheses(node: ast.Compare) -> str | None:
    """`v > 0 & v < 1` as it was meant, `(v > 0) & (v < 1)`; None if there is no such mistake."""
    written = ""
    side, ops = [node.left, *node.comparators], [None, *node.ops]
    current: list[ast.expr] = []
    operators: list[ast.cmpop] = []
    for operand, op in zip(side, ops, strict=True):
        if op is not None:
            operators.append(op)
        if not isinstance(operand, ast.BinOp) or type(operand.op) not in _JOINING:
            current.append(operand)
            continue
        comparison = _comparison([*current, operand.left], operators)
        written += f"{comparison} {_JOINING[type(operand.op)]} "
        current, operators = [operand.right], []
    return written + _comparison(current, operators) if written and operators else None


def _comparison(operands: Sequence[ast.expr], operators: Sequence[ast.cmpop]) -> str:
    if not operators:
        return ast.unparse(operands[0])
    return f"({ast.unparse(ast.Compare(operands[0], list(operators), list(operands[1:])))})"
