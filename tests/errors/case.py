"""What a broken kernel brings along: the types it is compiled for, or the arguments it fails on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import eas


class Broken:
    """A kernel that cannot be compiled to Metal for these types and constants: the `CASE`."""

    def __init__(self, kernel: Any, *types: str, **constants: object) -> None:
        self.kernel = kernel
        self.types = types
        self.constants = constants

    def error(self) -> eas.CompileError:
        try:
            self.kernel.to_msl(*self.types, **self.constants)
        except eas.CompileError as error:
            return error
        raise AssertionError(f"{self.kernel} was compiled")


@dataclass(frozen=True)
class Faulty:
    """A kernel that compiles, and does something wrong with these arguments."""

    kernel: Any
    arguments: Callable[[], Mapping[str, Any]]
    grid: int = 1

    def error(self) -> eas.KernelError:
        try:
            self.kernel[self.grid](**self.arguments(), _backend="interpret")
        except eas.KernelError as error:
            return error
        raise AssertionError(f"{self.kernel} ran to its end")


Case = Broken | Faulty
