"""The mark that says to the compiler which op a function of `mk` stands for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MARK = "__eas_intrinsic__"


class OutsideKernelError(RuntimeError):
    """A function of `mk` was called by Python itself, outside of a kernel."""

    __module__ = "eas"  # where a user imports it from; tracebacks show it


def intrinsic(name: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Marks a function that exists inside kernels only; `name` is its op, if that differs."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def outside(*args: P.args, **kwargs: P.kwargs) -> R:
            raise OutsideKernelError(
                f"mk.{function.__name__} works inside an @eas.kernel function, "
                "or in a helper that a kernel calls"
            )

        setattr(outside, MARK, name or function.__name__)
        return outside

    return decorate


def host_intrinsic(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function that has the same meaning inside kernels and in plain Python."""
    setattr(function, MARK, function.__name__)
    return function
