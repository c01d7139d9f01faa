"""Named tuples and frozen dataclasses: tuples whose parts have names."""

from __future__ import annotations

import dataclasses
import inspect
from functools import lru_cache
from types import FunctionType
from typing import Any

from eas.frontend_ast import operator_methods
from eas.frontend_ast.call_binding import Given, bind
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Const, Operand, Tuple
from eas.frontend_ast.promote import describe

# Functions of a class that a kernel has no use for, or that only describe an object.
_HARMLESS = frozenset(
    {"__repr__", "__str__", "__format__", "__hash__", "__dir__", "__sizeof__"}
    | {"__getnewargs__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"}
    | {"__copy__", "__deepcopy__", "__setattr__", "__delattr__"}
    | {"__init_subclass__", "__class_getitem__"}
    | operator_methods.ALL  # which `record_operators` calls
)


@lru_cache(maxsize=256)
def is_record(cls: type) -> bool:
    """Whether a class only holds values: a named tuple or a frozen dataclass."""
    return is_named_tuple(cls) or _is_frozen(cls)


def make_record(ctx: Context, cls: type, given: Given) -> Operand:
    """`Point(x, y=1)`."""
    check_record(ctx, cls)
    _check_factories(ctx, cls)
    fields = field_names(cls)

    def note() -> str:
        return f"its fields are {', '.join(f'`{f}`' for f in fields)}"

    bound = bind(ctx, f"`{cls.__name__}`", _signature(cls), given, note)
    bound.apply_defaults()
    values = _fixed_fields(cls) | bound.arguments
    return Tuple(tuple(values[f] for f in fields), cls, fields)


def replace_fields(ctx: Context, record: Operand, **changes: Operand) -> Operand:
    """`point._replace(x=1)` and `dataclasses.replace(point, x=1)`."""
    record = unwrap(ctx, record)
    if not isinstance(record, Tuple) or not record.fields:
        raise ctx.refusal("E0301", f"{describe(record)} has no fields to replace", at=record)
    for name in changes:
        if name not in record.fields:
            known = ", ".join(f"`{f}`" for f in record.fields)
            raise ctx.refusal(
                "E0424", f"{describe(record)} has no field `{name}`", notes=(f"it has {known}",)
            )
    items = [changes.get(f, item) for f, item in zip(record.fields, record.items, strict=True)]
    return Tuple(tuple(items), record.make, record.fields)


def unwrap(ctx: Context, operand: Operand) -> Operand:
    """A constant record as one whose parts can be taken apart."""
    if isinstance(operand, Const) and is_record(type(operand.value)):
        value: Any = operand.value
        make: type[object] = type(operand.value)
        check_record(ctx, make)
        fields = field_names(make)
        return Tuple(tuple(Const(getattr(value, f)) for f in fields), make, fields)
    return operand


def check_record(ctx: Context, cls: type) -> None:
    """Refuses a class whose operators or construction are code of its own, which would not run."""
    name = _own_code(cls)
    if name is not None:
        raise ctx.refusal(
            "E0419",
            f"`{cls.__name__}` has a `{name}`, which would not run",
            help=f"make it a function or a method with a name, without `{name}`",
        )


@lru_cache(maxsize=256)
def _own_code(cls: type) -> str | None:
    for base in cls.__mro__:
        if base.__module__ in ("builtins", "typing", "abc"):
            continue
        for name, member in vars(base).items():
            if name.startswith("__") and name.endswith("__") and name not in _HARMLESS:
                function = getattr(member, "__func__", member)
                if isinstance(function, FunctionType) and not is_generated(function):
                    return name
    return None


def is_generated(function: FunctionType) -> bool:
    """Whether `dataclass` or `namedtuple` made it, of a text of their own or of their own code.

    The file is not enough: `python -c` has its functions in `<string>` too. `__replace__`, from
    Python 3.13 on, is a function of their modules.
    """
    code = function.__code__
    if code.co_filename != "<string>":
        return function.__module__ in ("collections", "dataclasses")
    return code.co_qualname.startswith("__create_fn__.") or code.co_qualname == "<lambda>"


def field_names(cls: type) -> tuple[str, ...]:
    if is_named_tuple(cls):
        names: tuple[str, ...] = getattr(cls, "_fields")  # noqa: B009
        return names
    return tuple(f.name for f in dataclasses.fields(cls))


@lru_cache(maxsize=256)
def _signature(cls: type) -> inspect.Signature:
    """What the class takes when one is made, the defaults as operands."""
    make: Any = getattr(cls, "__new__" if is_named_tuple(cls) else "__init__")
    _, *parameters = inspect.signature(make).parameters.values()
    return inspect.Signature(
        [p if p.default is p.empty else p.replace(default=Const(p.default)) for p in parameters]
    )


def _check_factories(ctx: Context, cls: type) -> None:
    for field in () if is_named_tuple(cls) else dataclasses.fields(cls):
        if field.default_factory is not dataclasses.MISSING:
            raise ctx.refusal(
                "E0419",
                f"`{cls.__name__}` has a `default_factory`, which would not run",
                help=f"give `{field.name}` a default that is a value",
            )


def _fixed_fields(cls: type) -> dict[str, Operand]:
    """The fields of a dataclass that are not given when one is made."""
    if is_named_tuple(cls):
        return {}
    return {f.name: Const(f.default) for f in dataclasses.fields(cls) if not f.init}


def is_named_tuple(cls: type) -> bool:
    return hasattr(cls, "_fields") and tuple in cls.__mro__


def _is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen and parameters.init
