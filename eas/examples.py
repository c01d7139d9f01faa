"""Examples of a kernel's arguments: `@eas.kernel(examples=[("*f32", "i32", dict(BLOCK=256))])`.

An example is what `kernel.compile` takes, without a value: the types by position, then a dict of
the arguments by name. Tools that compile a kernel without launching it need one, such as
`eas check`. They are checked when the kernel is defined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from eas.call_arguments import specialize_call
from eas.ir.types import DType
from eas.runtime.refusals import BadArgument, LaunchError
from eas.signature import Parameters
from eas.support.records import frozen

Given = Sequence[Any]


class ExampleError(TypeError):
    """An example of a kernel's arguments does not fit its parameters; the message says why."""


@frozen(eq=False)
class Example:
    """The arguments of one compile: `kernel.compile(*example.args, **example.kwargs)`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __str__(self) -> str:
        parts = [_spell(each) for each in self.args]
        parts += [f"{name}={_spell(value)}" for name, value in self.kwargs.items()]
        return ", ".join(parts)


def read_examples(kernel: str, parameters: Parameters, given: object) -> tuple[Example, ...]:
    """The examples as the decorator takes them, checked against the parameters.

    >>> def add(a, b, N, BLOCK: constexpr): ...
    >>> str(read_examples("add", Parameters(add), [("*f32", "*f32", "i32", dict(BLOCK=256))])[0])
    "'*f32', '*f32', 'i32', BLOCK=256"
    """
    if isinstance(given, str | bytes) or not isinstance(given, list | tuple):
        raise ExampleError(
            f"kernel `{kernel}`: `examples` is a list of tuples, not {given!r}; "
            'write `examples=[("*f32", "i32", dict(BLOCK=256))]`'
        )
    items = cast(Sequence[object], given)
    if items and not any(isinstance(item, list | tuple) for item in items):
        raise ExampleError(
            f"kernel `{kernel}`: `examples` is a list of tuples, and this is a single example; "
            "put it into a list"
        )
    return tuple(
        _read_example(kernel, parameters, number, item) for number, item in enumerate(items, 1)
    )


def _read_example(kernel: str, parameters: Parameters, number: int, item: object) -> Example:
    what = f"kernel `{kernel}`, example {number}"
    if not isinstance(item, list | tuple):
        raise ExampleError(f"{what} is a tuple of types, not {item!r}")
    parts = list(cast(Sequence[Any], item))
    named: dict[Any, Any] = parts.pop() if parts and isinstance(parts[-1], dict) else {}
    if any(isinstance(part, dict) for part in parts):
        raise ExampleError(f"{what}: the dict of arguments by name comes last, and there is one")
    if wrong := [name for name in named if not isinstance(name, str)]:
        raise ExampleError(f"{what}: a name of an argument is a string, not {wrong[0]!r}")
    example = Example(tuple(parts), dict(named))
    check_example(what, kernel, parameters, example)
    return example


def check_example(what: str, kernel: str, parameters: Parameters, example: Example) -> None:
    """Raises an `ExampleError` if the example does not fit the parameters."""
    try:
        bound = parameters.bind(example.args, example.kwargs)
        specialize_call(kernel, parameters.all, bound, is_launch=False)
    except BadArgument as error:
        raise ExampleError(f"{what}: {error}") from None
    except LaunchError as error:
        where = f"argument `{error.argument}`: " if error.argument else ""
        raise ExampleError(f"{what}: {where}{error.message}") from None


def _spell(value: object) -> str:
    return str(value) if isinstance(value, DType) else repr(value)
