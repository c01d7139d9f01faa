"""How mistakes in logic leave the reader: all that were found, with lines of the Python file."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from eas.frontend_ast.source.errors import CompileError
from eas.support.close_names import close_matches


class LogicError(CompileError):
    """Logic that cannot be used: `diagnostics` says why and where."""


class UnknownValue(Exception):
    """A value is asked for whose expression was refused; that has been said already."""


UNKNOWN = object()  # the value of a name whose expression was refused


def names_assigned(node: ast.stmt) -> list[str]:
    """The names that a statement would have given values."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    found = (each for target in targets for each in ast.walk(target))
    return [each.id for each in found if isinstance(each, ast.Name)]


def suggest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The likeliest name that was meant, or all there are."""
    names = sorted(set(known))
    if close := close_matches(name, names):
        return (f"did you mean `{close[0]}`?",)
    return (f"there is {', '.join(f'`{each}`' for each in names)}",) if 0 < len(names) < 12 else ()


def not_defined(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """What is said of a name that there is not: a message, and a help perhaps."""
    return f"the name `{name}` is not defined", *suggest(name, known)


def no_member(owner: str, name: str, known: Iterable[str]) -> tuple[str, ...]:
    """What is said of a name that a module does not have."""
    return f"`{owner}` has no `{name}`", *suggest(name, known)


def no_primitive(name: object, known: Iterable[str]) -> tuple[str, ...]:
    """What is said of a primitive that there is not."""
    return f"there is no primitive `{name}`", *suggest(str(name), known)


def power(base: Any, exponent: Any) -> Any:
    """A power of numbers that are known now; one that would take long is refused."""
    if abs(exponent) > 64 or (isinstance(base, int) and base.bit_length() > 1024):
        raise OverflowError("the power is too large")
    return base**exponent


def words(node: ast.AST) -> str:
    """A piece of the user's text, on one line, in a message."""
    text = ast.unparse(node).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}..."
