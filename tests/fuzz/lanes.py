"""Random code of a lane: choices between bools, `match`, pointers that move, exits from loops.

The same text is a kernel over lanes, a kernel of scalars and a function for CPython, which is
called once for each lane.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

LANES = 40
TRIPS = 3
ROW = 16  # elements of `out` that are a lane's own
LENGTH = 2000  # of `x`, which no pointer leaves
_MOST_TRIPS = 30  # of all loops around a statement

_INTS, _BOOLS = ("u", "v", "w"), ("a", "b", "c")

_KERNELS = """\
import eas
from eas import mk


@eas.kernel
def with_lanes(x, out, n):
    i = mk.program_id(0) * 20 + mk.arange(0, 20)
{body}


@eas.kernel
def with_scalars(x, out, n):
    i = mk.program_id(0)
{body}


def in_cpython(mk, i, x, out, n):
{body}
"""


def write_kernels(random: Random) -> str:
    """The text of a module: two kernels, and the function that gives the right results."""
    lines = _Lines(random)
    lines.add(random.randrange(3, 10), "    ", 1, is_loop=False)
    return _KERNELS.format(body="\n".join((*_START, *lines.found, *_END)))


_START = [
    "    u, v, w = mk.load(x, i), i % 7, n",
    "    a, b, c = u > 3, v == 2, n > 1",
]
_END = [
    *(f"    mk.store(out, i * {ROW} + {k}, {name})" for k, name in enumerate(_INTS)),
    *(
        f"    mk.store(out, i * {ROW} + {3 + k}, mk.where({name}, 1, 0))"
        for k, name in enumerate(_BOOLS)
    ),
    f"    mk.store(out, i * {ROW} + 6, mk.load(x))",
]


class _Lines:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.found: list[str] = []
        self.names = 0
        self.budget = 30

    def add(self, count: int, indent: str, trips: int, is_loop: bool) -> None:
        for _ in range(count):
            self.budget -= 1
            is_deep = len(indent) > 16 or self.budget < 0
            kinds = _SIMPLE if is_deep or self.random.random() < 0.5 else _NESTED
            kind = self.random.choice(kinds)
            kind(self, indent, trips, is_loop)

    def line(self, text: str) -> None:
        self.found.append(text)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def block(self, indent: str, trips: int, is_loop: bool) -> None:
        self.add(self.random.randrange(1, 4), indent + "    ", trips, is_loop)

    def number(self, depth: int = 2) -> str:
        name = self.pick(*_INTS)
        if not depth:
            return self.pick(name, "i", "n", "0", "1", "2", "5", "-3")
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            *(name, f"({a} + {b}) % 23", f"({a} - {b}) % 19", f"({a} * {b}) % 17"),
            f"mk.where({self.truth(depth - 1)}, {name}, {b})",
            f"({name} if {self.truth(depth - 1)} else {b})",
            f"mk.load(x, {self.pick('i', '3', 'v % 5')} + {self.pick('0', '1', 'n')})",
            *("mk.load(x)", "mk.load(x + i)", f"mk.minimum({name}, {b})", f"abs({a})"),
        )

    def truth(self, depth: int = 2) -> str:
        name = self.pick(*_BOOLS)
        if not depth:
            return self.pick(name, name, "True", "False", "i >= 0", f"i < {LANES}", "n == 3")
        a, b = self.truth(depth - 1), self.truth(depth - 1)
        x, y = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            *(name, f"({x} < {y})", f"({x} != {y})", f"({x} >= {y})", f"(not {a})"),
            *(f"mk.where({name}, {a}, {b})", f"mk.where({x} > {y}, {name}, {b})"),
            *(f"({a} and {b})", f"({a} or {b})", f"({name} ^ {self.pick(*_BOOLS)})"),
            *(f"({name} & {self.pick(*_BOOLS)})", f"({name} | {self.pick(*_BOOLS)})"),
            *(f"({name} if {a} else {b})", f"(0 <= {x} < 9)"),
        )

    def condition(self) -> str:
        """Also such as always hold, which a compiler may know or not."""
        return self.pick(
            self.truth(), self.truth(), "i >= 0", "i >= -n", f"i < {LANES} + n", "n > 0"
        )

    def assign(self, indent: str, trips: int, is_loop: bool) -> None:
        del trips, is_loop
        self.line(f"{indent}{self.pick(*_INTS)} = {self.number()}")

    def decide(self, indent: str, trips: int, is_loop: bool) -> None:
        del trips, is_loop
        self.line(f"{indent}{self.pick(*_BOOLS)} = {self.truth()}")

    def swap(self, indent: str, trips: int, is_loop: bool) -> None:
        del trips, is_loop
        self.line(indent + self.pick("u, v = v, u", "a, b = b, a", "a, b, c = b, c, not a"))

    def count(self, indent: str, trips: int, is_loop: bool) -> None:
        """All lanes move by one number."""
        del trips, is_loop
        self.line(f"{indent}{self.pick(*_INTS)} += {self.pick('1', 'n', '-2')}")

    def move(self, indent: str, trips: int, is_loop: bool) -> None:
        """The pointer goes no further than the array is long, however often this runs."""
        del is_loop
        step = self.pick("1", "n", "2", "v % 3" if trips == 1 else "1")
        self.line(indent + self.pick(f"x += {step}", f"x = x + {step}", f"x = {step} + x"))

    def store(self, indent: str, trips: int, is_loop: bool) -> None:
        del trips, is_loop
        place = self.random.randrange(8, ROW)
        self.line(f"{indent}mk.store(out, i * {ROW} + {place}, {self.number(1)})")

    def branch(self, indent: str, trips: int, is_loop: bool) -> None:
        self.line(f"{indent}if {self.condition()}:")
        self.block(indent, trips, is_loop)
        if self.random.random() < 0.3:
            self.line(f"{indent}elif {self.condition()}:")
            self.block(indent, trips, is_loop)
        if self.random.random() < 0.5:
            self.line(f"{indent}else:")
            self.block(indent, trips, is_loop)

    def leave(self, indent: str, trips: int, is_loop: bool) -> None:
        self.line(f"{indent}if {self.condition()}:")
        if self.random.random() < 0.6:
            self.store(indent + "    ", trips, is_loop)
        ways = ("break", "continue", "return", "break") if is_loop else ("return",)
        self.line(f"{indent}    {self.pick(*ways)}")

    def match(self, indent: str, trips: int, is_loop: bool) -> None:
        inner = indent + "    "
        if self.random.random() < 0.2:
            self.line(f"{indent}match {self.truth(1)}:")
            patterns = ["True", "False"]
        else:
            self.line(f"{indent}match {self.pick('u', 'v', 'n', '(u + v)')} % 4:")
            self.names += 1
            kept = self.pick("w", f"k{self.names}")
            guards = [f"_ if {self.truth(1)}", f"{kept} if {kept} > 1"]
            literals = ["0", "1 | 2", "3", f"(1 | 3) as {kept}"]
            patterns = self.random.sample((*literals, *guards), self.random.randrange(1, 4))
        for pattern in patterns:
            self.line(f"{inner}case {pattern}:")
            self.block(inner, trips, is_loop)
        if self.random.random() < 0.5:
            self.line(f"{inner}case _:")
            self.block(inner, trips, is_loop)

    def loop(self, indent: str, trips: int, is_loop: bool) -> None:
        if trips * TRIPS > _MOST_TRIPS:
            self.assign(indent, trips, is_loop)
            return
        self.names += 1
        k = f"k{self.names}"
        if self.random.random() < 0.5:
            self.line(f"{indent}for {k} in range({self.pick('n', '3', 'v % 4', 'n - 1')}):")
        else:
            self.line(f"{indent}{k} = {self.pick('0', '0', 'v % 3')}")
            test = self.pick("n", "3", f"3 and {self.truth(1)}", "v % 4")
            self.line(f"{indent}while {k} < {test}:")
            self.line(f"{indent}    {k} += 1")
        self.block(indent, trips * TRIPS, is_loop=True)
        if self.random.random() < 0.2:
            self.line(f"{indent}else:")
            self.block(indent, trips, is_loop)


_Statement = Callable[[_Lines, str, int, bool], None]
_SIMPLE: list[_Statement] = [
    *(_Lines.assign, _Lines.assign, _Lines.decide, _Lines.decide),
    *(_Lines.move, _Lines.store, _Lines.swap, _Lines.leave, _Lines.count, _Lines.count),
]
_NESTED: list[_Statement] = [
    *(_Lines.branch, _Lines.branch, _Lines.match, _Lines.loop, _Lines.loop, _Lines.leave),
]


class Pointer:
    """An array and a place in it."""

    def __init__(self, array: Array, place: int = 0) -> None:
        self.array, self.place = array, place

    def __add__(self, by: int) -> Pointer:
        return Pointer(self.array, self.place + by)

    __radd__ = __add__


def run_in_cpython(function: Callable[..., None], x: Array, out: Array, n: int) -> None:
    """One lane after the other."""

    def load(pointer: Pointer, offset: int = 0) -> int:
        place = pointer.place + offset
        assert 0 <= place < len(pointer.array)
        return int(pointer.array[place])

    def store(pointer: Pointer, offset: int, value: int) -> None:
        pointer.array[pointer.place + offset] = value

    def where(condition: bool, a: Any, b: Any) -> Any:
        return a if condition else b

    mk = SimpleNamespace(load=load, store=store, where=where, minimum=min)
    for i in range(LANES):
        function(mk, i, Pointer(x), Pointer(out), n)
