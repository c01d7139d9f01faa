"""The arguments of a call, taken apart: what the compiler has to know, and what is passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np

from eas.foreign_arguments import read_foreign
from eas.frontend_ast.source.parameters import Argument, ArrayArg, ConstArg, ScalarArg
from eas.ir.types import DTYPES, LONG_NAMES, DType, dtype_named
from eas.runtime.argument_values import (
    Bound,
    is_eas_tensor,
    is_numpy_scalar,
    is_wide,
    to_bound,
)
from eas.runtime.grid import GridArguments
from eas.runtime.overlap import relation
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.torch_arguments import is_symbolic, is_tensor, type_text
from eas.signature import Parameter
from eas.support.close_names import closest
from eas.support.records import field, frozen

# A scalar's dtype; an array's dtype, rank, the parameter that gets the same one, and whether it is
# wide; or the identity of a constexpr.
KeyPart = str | tuple[object, ...]


@frozen
class Specialized:
    """`key` is equal for calls that share a compiled kernel.

    `values` are the runtime arguments, `constants` the constexpr ones and those that are `None`.
    `overlapping` are pairs of arrays that share memory but are not the same. `tensors` are the
    arguments that are tensors of torch, `devices` has the device of each `eas.Tensor`. `given` has
    all arguments as the caller gave them.
    """

    key: tuple[KeyPart, ...]
    values: Mapping[str, Bound]
    constants: Mapping[str, Any]
    overlapping: tuple[tuple[str, str], ...] = ()
    tensors: Mapping[str, Any] = field(default_factory=dict[str, Any])
    devices: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def grid_arguments(self) -> GridArguments:
        """What a grid may depend on; numbers as Python's own."""
        runtime = {n: v for n, v in self.given.items() if n not in self.constants}
        scalars = {n: v.item() for n, v in self.values.items() if isinstance(v, np.generic)}
        return GridArguments(self.constants, scalars, runtime)


def specialize_call(
    kernel: str, parameters: Sequence[Parameter], bound: Mapping[str, object], *, is_launch: bool
) -> Specialized:
    """Takes the arguments of a call apart; a launch needs values, a compile does with types."""
    key: list[KeyPart] = []
    values: dict[str, Bound] = {}
    constants: dict[str, Any] = {}
    overlapping: list[tuple[str, str]] = []
    tensors: dict[str, Any] = {}
    devices: dict[str, str] = {}
    for p in parameters:
        argument = bound[p.name]
        try:
            if p.is_constexpr or _is_left_out(p, argument):
                constants[p.name] = argument
                key.append(identity(argument))
            elif isinstance(argument, str) and not is_launch:
                key.append(_declared_type(argument, p))
            else:
                given, value, dtype = _bind(argument, p.dtype)
                part = _runtime_part(p, value, dtype, values, overlapping)
                if p.array is not None:
                    _check_array(p.array, part)
                key.append(part)
                values[p.name] = value
                if is_tensor(argument):
                    tensors[p.name] = argument
                if is_eas_tensor(given):
                    devices[p.name] = given.device
        except BadArgument as error:
            raise LaunchError(kernel, str(error), p.name) from None
    return Specialized(
        tuple(key), values, constants, tuple(overlapping), tensors, devices, dict(bound)
    )


def _bind(argument: Any, declared: DType | None) -> tuple[Any, Bound, DType]:
    """An argument, or the tensor that it is read as, and its value as backends take it."""
    try:
        return argument, *to_bound(argument, declared)
    except BadArgument:
        given = None if declared is not None else read_foreign(argument)
        if given is None:
            raise
        return given, *to_bound(given, declared)


def fake_types(
    parameters: Sequence[Parameter], bound: Mapping[str, object]
) -> dict[str, object] | None:
    """The arguments with fake tensors and symbolic numbers as types; None if a constexpr is one."""
    types = dict(bound)
    for p in parameters:
        argument = bound[p.name]
        if is_symbolic(argument) and p.is_constexpr:
            return None
        if is_symbolic(argument) or is_tensor(argument):
            is_declared = is_symbolic(argument) and p.dtype is not None
            types[p.name] = p.dtype.name if is_declared and p.dtype else type_text(argument)
    return types


def argument_types(parameters: Sequence[Parameter], call: Specialized) -> dict[str, Argument]:
    """What the front end takes for each parameter."""
    types: dict[str, Argument] = {}
    for p, part in zip(parameters, call.key, strict=True):
        if p.name in call.constants:
            types[p.name] = ConstArg(call.constants[p.name])
        elif isinstance(part, str):
            types[p.name] = ScalarArg(DTYPES[part])
        else:
            dtype, ndim, same_as, wide = cast(tuple[str, int | None, str | None, bool], part)
            types[p.name] = ArrayArg(DTYPES[dtype], ndim, same_as, wide)
    return types


def identity(value: Any) -> tuple[object, ...]:
    """Equal for equal constants only: `1`, `1.0` and `True` differ, and so do `0.0` and `-0.0`."""
    kind = cast(type[Any], type(value))
    if kind in (float, complex) or is_numpy_scalar(value):
        return (kind, repr(value))
    try:
        hash(value)
    except Exception as error:
        reason = "" if type(error) is TypeError else f" ({type(error).__name__}: {error})"
        raise BadArgument(
            f"a constexpr is part of the compiled kernel and must be hashable, which "
            f"a `{type(value).__name__}` is not{reason}{_hashable_twin(value)}"
        ) from None
    if isinstance(value, tuple):
        return (kind, *map(identity, cast(tuple[object, ...], value)))
    if is_dataclass(kind):
        return (kind, *(identity(getattr(value, f.name)) for f in fields(kind)))
    return (kind, value)


def _is_left_out(p: Parameter, argument: object) -> bool:
    """Whether `None` stands for an array or a number: the kernel is compiled without it."""
    return argument is None and p.dtype is None


def _hashable_twin(value: object) -> str:
    twins: dict[type, str] = {
        list: "a tuple",
        set: "a frozenset",
        dict: "a named tuple or a frozen dataclass",
        np.ndarray: "a tuple, or leave out the annotation `eas.constexpr`",
    }
    twin = twins.get(type(value))
    return f"; use {twin}" if twin else ""


def _runtime_part(
    p: Parameter,
    value: Bound,
    dtype: DType,
    before: Mapping[str, Bound],
    overlapping: list[tuple[str, str]],
) -> KeyPart:
    """What the compiler has to know of an argument, given those before it."""
    if not isinstance(value, np.ndarray):
        return dtype.name
    same_as: str | None = None
    for name, other in before.items():
        overlap = relation(other, value) if isinstance(other, np.ndarray) else "apart"
        if overlap == "same":
            same_as = same_as or name
        elif overlap == "overlapping":
            overlapping.append((name, p.name))
    return (dtype.name, value.ndim, same_as, is_wide(value))


_TYPE = re.compile(r"(?P<star>\*?)(?P<dtype>\w+)\s*(?P<axes>\[[:,\s]*\])?\s*(?P<wide>@\s*i64)?")


def _declared_type(text: str, p: Parameter) -> KeyPart:
    part = parse_type(text)
    if p.dtype is not None and part != p.dtype.name:
        raise BadArgument(f"the parameter is annotated `{p.dtype!r}`, which `{text}` is not")
    if p.array is not None:
        _check_array(p.array, part)
    return part


def _check_array(annotation: str, part: KeyPart) -> None:
    """Refuses what is not the array that a parameter is annotated with; it may leave out a rank."""
    dtype, ndim, *_ = parse_type(annotation)
    is_right = not isinstance(part, str) and part[0] == dtype
    if not is_right or (ndim is not None and part[1] not in (None, ndim)):
        shown = _shown(part)
        raise BadArgument(f'the parameter is annotated "{annotation}", which `{shown}` is not')


def _shown(part: KeyPart) -> str:
    """A part of a key as it is written: `i32`, `*f32[:, :]`."""
    if isinstance(part, str):
        return part
    dtype, ndim, *_ = part
    return f"*{dtype}" + (f"[{', '.join(':' * ndim)}]" if isinstance(ndim, int) else "")


def parse_type(text: str) -> KeyPart:
    """`i32` is a scalar, `*f32` an array of any rank, `*f32[:, :]` one of two dimensions.

    `*f32[:, :] @ i64` is an array whose offsets need 64 bits.
    """
    match = _TYPE.fullmatch(text.strip())
    if not match or ((match["axes"] or match["wide"]) and not match["star"]):
        raise BadArgument(
            f"`{text}` is no type: write `i32` for a number, `*f32` for an array, "
            "`*f32[:, :]` for an array of two dimensions"
        )
    dtype = dtype_named(match["dtype"])
    if dtype is None:
        close = closest(match["dtype"], (*DTYPES, *LONG_NAMES))
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(DTYPES)}"
        raise BadArgument(f"`{text}` names no dtype; {hint}")
    if not match["star"]:
        return dtype.name
    ndim = match["axes"].count(":") if match["axes"] else None
    return (dtype.name, ndim, None, bool(match["wide"]))
