"""Named tuples and frozen dataclasses: tuples whose parts have names."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from eas.frontend_ast.binding import Given, bind
from eas.frontend_ast.context import Context
from eas.frontend_ast.values import Const, Operand, Tuple


def is_record(cls: type) -> bool:
    """Whether a class only holds values: a named tuple or a frozen dataclass."""
    return _is_named_tuple(cls) or _is_frozen(cls)


def make_record(ctx: Context, cls: type, given: Given) -> Operand:
    """`Point(x, y=1)`."""
    fields = field_names(cls)
    defaults = _defaults(cls)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(f, kind, default=defaults.get(f, inspect.Parameter.empty)) for f in fields
    ]

    def note() -> str:
        return f"its fields are {', '.join(f'`{f}`' for f in fields)}"

    bound = bind(ctx, f"`{cls.__name__}`", inspect.Signature(parameters), given, note)
    if hasattr(cls, "__post_init__"):
        raise ctx.refusal(
            "E0419",
            f"`{cls.__name__}` has a `__post_init__`, which would not run",
            at=given.node.func,
            help="do what it does in the kernel, or in a function that makes the object",
        )
    bound.apply_defaults()
    return Tuple(tuple(bound.arguments[f] for f in fields), cls, fields)


def unwrap(operand: Operand) -> Operand:
    """A constant record as one whose parts can be taken apart."""
    if isinstance(operand, Const) and is_record(type(operand.value)):
        value: Any = operand.value
        make: type[object] = type(operand.value)
        fields = field_names(make)
        return Tuple(tuple(Const(getattr(value, f)) for f in fields), make, fields)
    return operand


def field_names(cls: type) -> tuple[str, ...]:
    if _is_named_tuple(cls):
        names: tuple[str, ...] = getattr(cls, "_fields")  # noqa: B009
        return names
    return tuple(f.name for f in dataclasses.fields(cls))


def _defaults(cls: type) -> dict[str, Operand]:
    if _is_named_tuple(cls):
        found: dict[str, object] = getattr(cls, "_field_defaults")  # noqa: B009
        return {name: Const(value) for name, value in found.items()}
    return {
        f.name: Const(f.default)
        for f in dataclasses.fields(cls)
        if f.default is not dataclasses.MISSING
    }


def _is_named_tuple(cls: type) -> bool:
    return hasattr(cls, "_fields") and tuple in cls.__mro__


def _is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen
