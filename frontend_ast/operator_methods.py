"""The methods that Python calls for an operator: of the left side, and of the right side."""

from __future__ import annotations

import ast

_ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
ARITHMETIC: dict[type[ast.AST], tuple[str, str]] = {
    kind: (f"__{name}__", f"__r{name}__") for kind, name in _ARITHMETIC.items()
}
COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
UNARY: dict[type[ast.AST], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
}
ABSOLUTE = "__abs__"

OF_TWO = ARITHMETIC | COMPARISONS
ALL = frozenset({name for pair in OF_TWO.values() for name in pair} | {*UNARY.values(), ABSOLUTE})
