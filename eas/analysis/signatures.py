"""The types that a kernel is compiled for where nobody launches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from eas.call_arguments import argument_types, parse_type, specialize_call
from eas.examples import Example, read_examples
from eas.frontend_ast.caution import is_plain
from eas.frontend_ast.source.parameters import (
    UNKNOWN,
    Argument,
    ArrayArg,
    ConstArg,
    ScalarArg,
    UnknownArg,
)
from eas.ir.types import DTYPES
from eas.kernel import Kernel
from eas.runtime.refusals import BadArgument
from eas.signature import Parameter
from eas.support.records import frozen


@frozen(eq=False)
class Signature:
    """The arguments of one compile, and what a reader sees of them."""

    text: str
    arguments: Mapping[str, Argument]

    @property
    def unknown(self) -> list[str]:
        return [name for name, each in self.arguments.items() if isinstance(each, UnknownArg)]


@frozen(eq=False)
class Signatures:
    """The signatures of a kernel, and where they are from; `partly` has unknown arguments."""

    source: str
    items: Sequence[Signature]


def signatures_of(kernel: Kernel, project: Sequence[Any], *, is_cautious: bool) -> Signatures:
    """From the decorator's examples, the project's, or the annotations of the parameters.

    An `ExampleError` says what is wrong with an example of the project.
    """
    source, examples = "examples", kernel.examples
    if not examples and project:
        given = [_with_dtypes(kernel, each) for each in project]
        source, examples = "pyproject", read_examples(kernel.name, kernel.parameters, given)
    if examples:
        return Signatures(source, [_by_example(kernel, each, is_cautious) for each in examples])
    found = _by_annotations(kernel, is_cautious)
    return Signatures("partly" if found.unknown else "annotations", [found])


def _with_dtypes(kernel: Kernel, example: Sequence[Any]) -> list[Any]:
    """TOML has no dtypes: `"f32"` is one for a constexpr parameter."""
    constants = {p.name for p in kernel.parameters.all if p.is_constexpr}

    def named(name: str, value: Any) -> Any:
        is_dtype = name in constants and isinstance(value, str)
        return DTYPES.get(value, value) if is_dtype else value

    return [
        {name: named(name, value) for name, value in cast(dict[str, Any], each).items()}
        if isinstance(each, dict)
        else each
        for each in example
    ]


def _by_example(kernel: Kernel, example: Example, is_cautious: bool) -> Signature:
    bound = kernel.parameters.bind(example.args, example.kwargs)
    call = specialize_call(kernel.name, kernel.parameters.all, bound, is_launch=False)
    types = argument_types(kernel.parameters.all, call)
    known = {name: _checked(each, is_cautious) for name, each in types.items()}
    return Signature(str(example), known)


def _by_annotations(kernel: Kernel, is_cautious: bool) -> Signature:
    types = {p.name: _checked(_annotated(p), is_cautious) for p in kernel.parameters.all}
    return Signature(", ".join(f"{name}: {spell(each)}" for name, each in types.items()), types)


def _annotated(p: Parameter) -> Argument:
    if p.is_constexpr:
        return ConstArg(p.default) if p.has_default else UnknownArg()
    if p.array is not None:
        return _array(p.array)
    return UnknownArg() if p.dtype is None else ScalarArg(p.dtype)


def _array(text: str) -> Argument:
    try:
        part = parse_type(text)
    except BadArgument:
        return UnknownArg()
    if isinstance(part, str):
        return ScalarArg(DTYPES[part])
    dtype, ndim, _, is_wide = part
    return ArrayArg(
        DTYPES[str(dtype)], ndim if isinstance(ndim, int) else None, None, bool(is_wide)
    )


def _checked(argument: Argument, is_cautious: bool) -> Argument:
    if not isinstance(argument, ConstArg):
        return argument
    is_unknown = argument.value is UNKNOWN or (is_cautious and not is_plain(argument.value))
    return UnknownArg() if is_unknown else argument


def spell(argument: Argument) -> str:
    """An argument as it is written in a signature."""
    match argument:
        case ArrayArg(dtype=dtype, ndim=ndim):
            return f"*{dtype}" + (f"[{', '.join(':' * ndim)}]" if ndim else "")
        case ScalarArg(dtype=dtype):
            return str(dtype)
        case ConstArg(value=value):
            return f"constexpr {value!r}"
        case UnknownArg():
            return "?"
