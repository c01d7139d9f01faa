"""A kernel's parameters, and how the arguments of a call are bound to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from eas.ir.types import DType, dtype_named
from eas.runtime.refusals import BadArgument
from eas.support.close_names import closest
from eas.support.records import frozen

if TYPE_CHECKING:
    constexpr = Any
else:

    class constexpr:
        """The annotation of a parameter that is known when the kernel is compiled.

        Its values are any hashable Python objects; each gives a kernel of its own.
        """


@frozen
class Parameter:
    """One parameter of a kernel. `dtype` is what it is annotated with, `mk.i64` for instance.

    `array` is the type of an array that it is annotated with: `x: "*f32"`, or, for a type checker,
    `x: Annotated[mk.Value, "*f32"]`.
    """

    name: str
    is_constexpr: bool
    dtype: DType | None
    array: str | None
    default: object
    has_default: bool
    by_position: bool
    by_keyword: bool


class Parameters:
    """The parameters of a kernel in their order."""

    def __init__(self, fn: Callable[..., object]) -> None:
        self.all = tuple(_read_parameters(fn))
        self.by_position = tuple(p.name for p in self.all if p.by_position)
        self._by_keyword = frozenset(p.name for p in self.all if p.by_keyword)

    def bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
        """The arguments by name; raises `BadArgument` as Python would raise `TypeError`."""
        if len(args) > len(self.by_position):
            raise BadArgument(
                f"takes {len(self.by_position)} arguments by position, not {len(args)}"
            )
        bound = dict(zip(self.by_position, args, strict=False))
        for name, value in kwargs.items():
            if name not in self._by_keyword:
                raise BadArgument(self._unknown(name))
            if name in bound:
                raise BadArgument(f"`{name}` is given twice, by position and by name")
            bound[name] = value
        if len(bound) < len(self.all):
            self._add_defaults(bound)
        return bound

    def _add_defaults(self, bound: dict[str, object]) -> None:
        missing = [p.name for p in self.all if p.name not in bound and not p.has_default]
        if missing:
            raise BadArgument(_missing(missing, self.all[0].name))
        for p in self.all:
            bound.setdefault(p.name, p.default)

    def _unknown(self, name: str) -> str:
        if name in LAUNCH_OPTIONS:
            return f"`{name}` is for launches, and nothing is launched here: leave it out"
        options = [*sorted(self._by_keyword), *LAUNCH_OPTIONS]
        close = closest(name, options)
        hint = f"did you mean `{close[0]}`?" if close else f"it takes {_quoted(options)}"
        return f"has no parameter `{name}`; {_OF_TRITON.get(name, hint)}"


LAUNCH_OPTIONS = (
    *("_grid", "_tptg", "_sync", "_backend", "_checked"),
    *("_shape", "_nthreads"),
)
_OF_TRITON = {
    "num_warps": "`_tptg=` says how many threads a threadgroup has: 32 for each warp",
    "num_stages": "leave it out: the compiler decides what is loaded ahead",
    "num_ctas": "leave it out: a program is one threadgroup",
}


def _missing(names: list[str], first: str) -> str:
    message = f"lacks {'arguments' if len(names) > 1 else 'the argument'} {_quoted(names)}"
    if first == "self":
        return f"{message}; a kernel in a class body is called without an object: drop `self`"
    return message


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _read_parameters(fn: Callable[..., object]) -> list[Parameter]:
    found: list[Parameter] = []
    for p in inspect.signature(fn).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(
                f"kernel `{getattr(fn, '__name__', fn)}` takes `{str(p).split(':')[0]}`: "
                "give each parameter a name of its own"
            )
        annotation = _resolve(p.annotation, fn)
        found.append(
            Parameter(
                p.name,
                annotation is constexpr,
                annotation if isinstance(annotation, DType) else None,
                annotation if isinstance(annotation, str) else None,
                p.default,
                p.default is not p.empty,
                p.kind is not p.KEYWORD_ONLY,
                p.kind is not p.POSITIONAL_ONLY,
            )
        )
    return found


def _resolve(annotation: object, fn: Callable[..., object]) -> object:
    """The annotation's value; `from __future__ import annotations` leaves only its text.

    Of strings, only the type of an array is left as it is.
    """
    if get_origin(annotation) is Annotated:
        texts = [each for each in get_args(annotation)[1:] if isinstance(each, str)]
        return _resolve(texts[0], fn) if texts else None
    if not isinstance(annotation, str):
        return annotation
    if annotation.lstrip().startswith("*"):
        return annotation.strip()
    try:
        closure = inspect.getclosurevars(fn).nonlocals
        value = eval(annotation, getattr(fn, "__globals__", {}), dict(closure))
        return value if value == annotation else _resolve(value, fn)
    except Exception:  # any expression of the user's may stand there, and it may fail in any way
        word = annotation.rpartition(".")[2]
        return constexpr if word == "constexpr" else dtype_named(word)
