"""What may be looked at and called while a text is compiled that nobody has saved yet.

An editor compiles what is being typed. Nothing of that may run: no function, no property, no
operator of a class of the user's. Values from outside are taken if they are plain data, functions
that are inlined, modules and classes; everything else is unknown, and what depends on it is not
checked.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import operator
import reprlib
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any, cast

import numpy as np

from eas.frontend_ast.source.parameters import UNKNOWN
from eas.ir.types import DType

_PLAIN = (bool, int, float, complex, str, bytes, NoneType, range, np.generic, np.dtype, DType)
_NAMED = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)
_COLLECTIONS = (tuple, list, dict, set, frozenset)
_MOST_ITEMS = 10_000
# The classes of these modules run code of Python's own, which only computes.
_OF_PYTHON = ("builtins", "enum", "typing", "collections", "functools")
_MAKERS = (dataclasses.__file__, reprlib.__file__)
_FORMATS = ("format", "format_map")
_OF_NUMPY = tuple(
    getattr(np, name)
    for name in (
        *("arange", "linspace", "zeros", "ones", "full", "empty", "eye", "array", "asarray"),
        *("zeros_like", "ones_like", "where", "clip", "sum", "prod", "max", "min", "mean", "dot"),
        *("argmax", "argmin", "cumsum", "sort", "concatenate", "stack", "reshape", "transpose"),
    )
)
_COMPUTING = tuple(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs"),
        *("and_", "or_", "xor", "invert", "lshift", "rshift", "not_", "truth", "index"),
        *("lt", "le", "eq", "ne", "ge", "gt", "is_", "is_not", "contains", "getitem", "concat"),
    )
)


def is_plain(value: object) -> bool:
    """Whether to compute with a value runs no code of the user's.

    >>> is_plain((1, 2.0)), is_plain(UNKNOWN)
    (True, False)
    """
    if isinstance(value, np.ndarray):  # refused by name, wherever it is used
        return True
    kind = cast(type[Any], type(value))
    if kind in _COLLECTIONS:
        return _are_plain(cast(Any, value))
    if value is UNKNOWN or _has_own_code(kind):
        return False
    if isinstance(value, tuple):  # a named tuple
        return _are_plain(cast(Any, value))
    if hasattr(kind, "__dataclass_fields__"):
        return _are_plain([getattr(value, name, None) for name in kind.__dataclass_fields__])
    return isinstance(value, (*_PLAIN, *_NAMED, enum.Enum)) or _is_ours(kind)


def _are_plain(items: Any) -> bool:
    if len(items) > _MOST_ITEMS:
        return False
    values: list[Any] = list(items.values()) if hasattr(items, "values") else []
    return all(map(is_plain, [*items, *values]))


def _has_own_code(kind: type[Any]) -> bool:
    """Whether a class has methods for operators and the like that are written in Python."""
    for cls in kind.__mro__:
        if cls.__module__ in _OF_PYTHON or _is_ours(cls):
            continue
        for name, member in vars(cls).items():
            is_special = name.startswith("__") and name.endswith("__")
            if is_special and isinstance(member, FunctionType) and not _is_generated(member):
                return True
    return False


def _is_ours(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] in ("eas", "numpy", "ml_dtypes")


def _is_generated(function: FunctionType) -> bool:
    """Whether a dataclass or a named tuple has made a method."""
    file = function.__code__.co_filename
    return file.startswith("<") or file in _MAKERS or function.__module__ in _OF_PYTHON


def has_plain_attribute(holder: object, name: str) -> bool:
    """Whether to read an attribute runs no code: it is data, a method, or of a class of ours."""
    if isinstance(holder, ModuleType):
        return name in vars(holder) or "__getattr__" not in vars(holder)
    if _is_ours(cast(type[Any], type(holder))) or isinstance(holder, enum.Enum):
        return True
    found = inspect.getattr_static(holder, name, UNKNOWN)
    if found is UNKNOWN:
        return not isinstance(holder, type) or type(holder) is type
    getter = getattr(cast(type[Any], type(found)), "__get__", None)
    is_python = isinstance(getter, FunctionType) or isinstance(found, property)
    return not is_python


def may_call(function: Any, arguments: list[object]) -> bool:
    """Whether a function of Python's own only computes, whatever it is given.

    >>> import math, os
    >>> may_call(math.sqrt, [2.0]), may_call(sorted, [[1], os.remove])
    (True, False)
    """
    if any(callable(each) and not isinstance(each, type) for each in arguments):
        return False
    if isinstance(function, BuiltinFunctionType) and function.__module__ in ("math", "builtins"):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(owner, str | int | float | tuple | dict | list):
        return function.__name__ not in _FORMATS
    if isinstance(function, type):
        return issubclass(function, np.generic | np.dtype)
    known = (*_COMPUTING, *_OF_NUMPY)
    return isinstance(function, np.ufunc) or any(function is each for each in known)
