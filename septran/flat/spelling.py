"""The marks and levels of operators in the text form, for the printer and the parser."""

from __future__ import annotations

from typing import get_args

from eas.ir.text.lexer import WORD
from eas.septran.flat.nodes import BinaryKind, UnaryKind

# A name that may have dots: `dsa.systolic_compute`.
NAME = rf"{WORD}(?:\.{WORD})*"

# The mark, how tightly it binds, and whether `a ~ b ~ c` is `(a ~ b) ~ c`.
INFIX: dict[BinaryKind, tuple[str, int, bool]] = {
    "or": ("|", 1, True),
    "and": ("&", 2, True),
    "lt": ("<", 3, False),
    "le": ("<=", 3, False),
    "eq": ("==", 3, False),
    "ne": ("!=", 3, False),
    "gt": (">", 3, False),
    "ge": (">=", 3, False),
    "add": ("+", 4, True),
    "sub": ("-", 4, True),
    "mul": ("*", 5, True),
    "div": ("/", 5, True),
}
PREFIX: dict[UnaryKind, str] = {"neg": "-", "not": "!"}
UNARY_LEVEL = 6

UNARY_CALLS: dict[str, UnaryKind] = {k: k for k in get_args(UnaryKind) if k not in PREFIX}
BINARY_CALLS: dict[str, BinaryKind] = {k: k for k in get_args(BinaryKind) if k not in INFIX}
