"""The expressions in `constraints` and `when` of a tree, with the places of their characters."""

from __future__ import annotations

from typing import TypeGuard

from eas.septran.files import nodes
from eas.septran.files.complaints import Complaints
from eas.septran.files.expressions import LONGEST, ExpressionError, Term, parse
from eas.septran.files.nodes import Items, Map, Plain, Scalar


def parse_conditions(root: Map, key: str, complaints: Complaints) -> list[tuple[Scalar, Term]]:
    """Every expression below a key that can be read; complaints about the others."""
    node = nodes.child(root, key)
    several = node.items if isinstance(node, Items) else [node]
    found: list[tuple[Scalar, Term]] = []
    for each in several:
        if isinstance(each, Scalar) and _is_readable(each.value):
            try:
                found.append((each, parse(each.value)))
            except ExpressionError as error:
                complain(each, error, "S121", complaints)
    return found


def _is_readable(value: Plain) -> TypeGuard[str]:
    """False if the text is empty or too long; the model has reported that."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST


def complain(scalar: Scalar, error: ExpressionError, code: str, complaints: Complaints) -> None:
    """The error at its characters in the YAML."""
    loc = scalar.part(error.start, error.end)
    complaints.add(code, error.message, loc, help=[error.help] if error.help else [])
