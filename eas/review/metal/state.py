"""Where the counting of a text is: the threads that are here, the variables, what was counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from eas.review.metal import arithmetic
from eas.review.metal.kernel_costs import Region, What, add
from eas.review.metal.syntax import MetalText, Type
from eas.review.metal.thread_values import BOOL, INT, Mask, Value, lanes_of, size_of

SIMDGROUP = 32


class State:
    """`mask` are the threads that are here, `weights` how often each of them is."""

    def __init__(self, tree: MetalText, threads: int, root: Region) -> None:
        self.tree = tree
        self.threads = threads
        self.region = root
        self.thread = np.arange(threads)
        self.mask: Mask = np.ones(threads, bool)
        self.weights: np.ndarray[Any, np.dtype[np.float64]] = np.ones(threads)
        self.scopes: list[dict[str, Value]] = []

    def here(self) -> float:
        """How many threads are here, each as often as it is."""
        return float(self.weights[self.mask].sum())

    def count(self, what: What, amount: float = 1.0, width: int = 0) -> None:
        """Counts something that each thread here does so many times."""
        add(self.region.counts, (what, width), amount * self.here())

    def access(self, what: What, ty: Type, place: int, elements: float = 1.0) -> None:
        """An access to an element; the memory of a thread and constants are free."""
        if ty.space == "threadgroup":
            self.count("shared", elements)
        elif ty.space == "device":
            width = size_of(ty.name)
            self.count(what, elements, width)
            add(self.region.sites, (what, place), elements * lanes_of(ty) * self.here())

    def look_up(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in ("true", "false"):
            return Value(BOOL, int(name == "true"))
        is_float_constant = name in ("INFINITY", "NAN", "HUGE_VALF") or name.endswith("_F")
        return Value(Type("float") if is_float_constant else INT)

    def set(self, name: str, result: Value) -> None:
        for scope in reversed(self.scopes):
            if name in scope:
                old = scope[name]
                number = result.number
                if number is not None and not old.type.is_pointer:
                    number = arithmetic.convert(number, old.type.name)
                if number is not None and old.number is not None:
                    number = np.where(self.mask, number, old.number)
                scope[name] = Value(old.type, number, result.parts)
                return

    def forget(self, names: Iterable[str]) -> None:
        """Makes variables unknown."""
        for name in names:
            for scope in self.scopes:
                if name in scope:
                    scope[name] = Value(scope[name].type)
