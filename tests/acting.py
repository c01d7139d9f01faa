"""Random kernels that make the passes of the back ends act, a maker for each pass.

The kernels of the corpus and random functions hardly ever have what such a pass looks for. Each
maker writes a kernel around just that, with random sizes, types, expressions and other statements.
The arguments are always the same: `x` and `y` are read, `out` and `more` are written, in `PROGRAMS`
programs; `n` is a small number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.running import load

PROGRAMS = 2
SIZE = 4096
_HEAD = "import eas\nfrom eas import mk\n\n\n@eas.kernel\ndef acting(x, y, out, more, n):\n"
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "mk.minimum({}, {})", "mk.maximum({}, {})")
_COMPARISONS = ("<", "<=", ">", "!=")


@dataclass(frozen=True)
class Acting:
    """A kernel's text, and the dtype of its arrays."""

    text: str
    dtype: str

    @property
    def kernel(self) -> Any:
        return load(self.text)["acting"]

    def arguments(self) -> dict[str, Any]:
        random = np.random.default_rng(len(self.text))
        x, y = (random.integers(-9, 9, SIZE).astype(self.dtype) for _ in range(2))
        out, more = (np.zeros(SIZE, self.dtype) for _ in range(2))
        return {"x": x, "y": y, "out": out, "more": more, "n": 3}


class _Writer:
    def __init__(self, random: Random, dtypes: tuple[str, ...] = ("i4", "f4")) -> None:
        self.random = random
        self.dtype = random.choice(dtypes)
        self.lines: list[str] = []

    def add(self, text: str, depth: int = 1) -> None:
        self.lines += [f"{'    ' * depth}{line}" for line in text.splitlines()]

    def done(self) -> Acting:
        return Acting(_HEAD + "\n".join(self.lines) + "\n", self.dtype)

    def lanes(self, size: int) -> None:
        self.add(f"p = mk.program_id(0)\nt = mk.arange(0, {size})\na = mk.load(x, p * {size} + t)")

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def expression(self, *names: str, depth: int = 2) -> str:
        """Arithmetic on some names."""
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice([*names, str(self.random.randrange(1, 5))])
        parts = [self.expression(*names, depth=depth - 1) for _ in range(2)]
        return f"({self.random.choice(_BINARY).format(*parts)})"

    def condition(self, *names: str) -> str:
        """A condition that holds for some lanes, if one of the names is a block."""
        comparison = self.random.choice(_COMPARISONS)
        return f"({self.random.choice(names)} {comparison} {self.random.randrange(1, 5)})"

    def leave_loop(self, depth: int) -> None:
        """Some lanes leave a trip, in one branch or in the branch of a branch."""
        exit = self.one_of("break", "continue", "b += 3\n    break", "b -= 2\n    continue")
        text = f"if {self.condition('a', 'b', 't')}:\n    {exit}\nb += {self.expression('a')}"
        if self.random.random() < 0.5:
            self.add(f"if {self.condition('a', 'b', 't')}:", depth)
            self.add(text, depth + 1)
            self.add(f"else:\n    b -= {self.expression('a', 't')}", depth)
            return
        self.add(text, depth)


def lockstep(random: Random) -> Acting:
    """Divergent control flow in which one lane acts for several, or touches what others write."""
    w = _Writer(random)
    size = random.choice([4, 32, 50])
    w.lanes(size)
    w.add("b = a")
    head = w.one_of(
        f"if {w.condition('a', 't')}:",
        f"for k in range(t % {random.randrange(2, 5)}):",
        "k = 0\nwhile k < t % 3:\n    k += 1",
    )
    w.add(head)
    w.add(f"b += {w.expression('a', 'b')}", 2)
    shared = w.one_of(
        f"mk.store(out, p, {random.randrange(1, 9)})",
        f"mk.atomic_add(out, p, {random.randrange(1, 9)})",
        f"mk.store(more, p * {size} + ({size - 1} - t), b)\nb += mk.load(more, p * {size} + t)",
        f"mk.store(out, p, {random.randrange(1, 9)}, {w.one_of('n > 2', 'n < 2', 'p > 0')})",
    )
    w.add(shared, 2)
    for _ in range(0 if head.startswith("if") else random.randrange(4)):
        w.leave_loop(2)
    w.add(f"mk.store(out, {PROGRAMS} + p * {size} + t, b)")
    return w.done()


def lane_continues(random: Random) -> Acting:
    """A loop that all threads share, because they reduce in it, with a `continue` of some lanes."""
    w = _Writer(random)
    size = random.choice([8, 32, 48])
    w.lanes(size)
    w.add("b = a * 0")
    w.add(w.one_of("for k in range(n):", "for k in range(1, n * 2, 2):"))
    w.add(f"s = mk.{w.one_of('sum', 'max', 'min')}(b + {w.expression('a', 't')})", 2)
    w.add(f"if {w.condition('a', 't')}:", 2)
    w.add(w.one_of("b += s\ncontinue", "continue", "a = a + 1\ncontinue"), 3)
    w.add(f"b += s + {w.expression('a', 't')}", 2)
    if random.random() < 0.5:
        w.add(f"if {w.condition('a', 't')}:\n    b -= 1\n    continue\na = a + b", 2)
    if random.random() < 0.5:  # the `else` of a loop belongs to the loop around
        w.add(f"for m in range(2):\n    if {w.condition('a', 't')}:\n        break", 2)
        w.add("else:\n    b += 5\n    continue\nb += 2", 2)
    w.add(f"mk.store(out, p * {size} + t, b)")
    return w.done()


def row_loops(random: Random) -> Acting:
    """Rows of a block, each reduced by itself."""
    w = _Writer(random)
    rows, columns = random.choice([2, 3, 8]), random.choice([64, 100, 128])
    w.add(f"i = mk.program_id(0) * {rows} + mk.arange(0, {rows})\nj = mk.arange(0, {columns})")
    w.add(f"tile = i[:, None] * {columns} + j[None, :]")
    w.add(w.one_of("a = mk.load(x, tile)", "a = mk.load(x, tile, tile % 3 != 1, other=0)"))
    w.add(f"b = a - {w.expression('a', 'mk.load(y, tile)')}")
    for result in ("s", "r")[: random.randrange(1, 3)]:
        w.add(f"{result} = mk.{w.one_of('sum', 'max', 'min')}(b, axis=1)")
    if random.random() < 0.6:
        w.add(f"mk.store(out, tile, {w.expression('b', 'a')} - s[:, None])")
    else:
        w.add(f"mk.store(out, tile, b, b > s[:, None] - {random.randrange(5)})")
    w.add(f"mk.store(more, i, s + {random.randrange(9)}, {w.one_of('i < 9', 'i != 2')})")
    return w.done()


def uniform_loops(random: Random) -> Acting:
    """Loops that each lane enters at a place of its own, and that all run with the same steps."""
    w = _Writer(random)
    size = random.choice([4, 32, 40])
    w.lanes(size)
    w.add("b = a")
    start = w.one_of("t", f"{random.randrange(9)} + t", "n + t" if random.random() < 0.2 else "t")
    w.add(f"for k in range({start}, {random.randrange(30, 90)}, {size}):")
    w.add(f"b += mk.load(y, k) * {w.expression('a', 'k', depth=1)}", 2)
    if random.random() < 0.5:
        w.add(f"if {w.condition('a', 'k')}:\n    b -= {w.expression('a', 'b')}", 2)
    w.add(f"mk.store(out, p * {size} + t, b)")
    return w.done()


def induction(random: Random) -> Acting:
    """Loops that move a block of offsets by a number."""
    w = _Writer(random)
    size = random.choice([4, 32, 40])
    w.lanes(size)
    w.add("b = a\ni = t")
    step = w.one_of("n", str(random.randrange(1, 40)), "n * 2")
    head = w.one_of("for k in range(n):", "k = 0\nwhile k < n:\n    k += 1")
    w.add(head)
    w.add(f"b += mk.load(y, i) * {w.expression('a', 'k', depth=1)}", 2)
    if random.random() < 0.5:
        w.add(f"mk.store(more, p * 1024 + i, {w.expression('a', 'b')})", 2)
    w.add(f"i += {step}" if random.random() < 0.7 else f"i = {step} + i + n", 2)
    w.add(f"mk.store(out, p * {size} + t, b{w.one_of('', ' + i')})")
    return w.done()


def dot_operands(random: Random) -> Acting:
    """Products that are added to something, or whose factors are read in columns."""
    return _products(random, is_shaped=True)


def dot_to_mma(random: Random) -> Acting:
    """Products that fragments can do, alone or summed in a loop."""
    return _products(random, is_shaped=False)


def _products(random: Random, is_shaped: bool) -> Acting:
    w = _Writer(random, ("f4",))
    m, k, n = (random.choice([8, 16, 32]) for _ in range(3))
    w.add(f"p = mk.program_id(0)\ni = mk.arange(0, {m})\nk = mk.arange(0, {k})")
    w.add(f"j = mk.arange(0, {n})\nrows = i[:, None] * {k} + k[None, :]")
    w.add(
        f"columns = {w.one_of(f'k[:, None] * {n} + j[None, :]', f'k[:, None] + j[None, :] * {k}')}"
    )
    w.add(f"acc = mk.zeros(({m}, {n}), mk.f32)")
    depth = 1
    if random.random() < 0.7:
        w.add("for trip in range(n):")
        depth = 2
    w.add("a = mk.load(x, rows + p)\nb = mk.load(y, columns)", depth)
    if depth == 2:
        w.add(f"rows += {random.randrange(1, 60)}", depth)
    if random.random() < 0.3:
        w.add(f"a = {w.expression('a', depth=1)} + a", depth)
    if is_shaped or random.random() < 0.6:
        w.add(w.one_of("acc += mk.dot(a, b)", "acc = mk.dot(a, b) + acc"), depth)
    else:
        w.add(f"acc = mk.dot(a, b){w.one_of('', ' * 2', ' - 1')}", depth)
    if random.random() < 0.4:  # this product has a sum already
        w.add(f"acc = mk.dot(a, b, acc) + {random.randrange(1, 5)}", depth)
    w.add(f"mk.store(out, p * {m * n} + i[:, None] * {n} + j[None, :], acc)")
    return w.done()


def reduction_fusion(random: Random) -> Acting:
    """Reductions with a store between them, the later of which does not need it."""
    w = _Writer(random)
    size = random.choice([32, 64, 100])
    w.lanes(size)
    w.add(f"b = mk.load(y, {w.one_of('t', f'p * {size} + t')})")
    w.add(f"s = mk.{w.one_of('sum', 'max', 'min')}(a * {w.expression('a', 't')})")
    w.add(f"mk.store(out, p, s + {w.expression('s', 'p', depth=1)})")
    w.add(f"r = mk.{w.one_of('sum', 'max', 'min')}(b - {w.expression('a', 'b')})")
    w.add(f"mk.store(more, p * {size} + t, r - {w.expression('a', 's')})")
    return w.done()


def all_reduce(random: Random) -> Acting:
    """Rows that want the results of their own reductions back."""
    w = _Writer(random)
    rows, columns = random.choice([2, 4, 8]), random.choice([8, 16, 32, 64])
    w.add(f"i = mk.arange(0, {rows})\nj = mk.arange(0, {columns})")
    w.add(f"tile = (mk.program_id(0) * {rows} + i[:, None]) * {columns} + j[None, :]")
    w.add("a = mk.load(x, tile)")
    w.add(f"s = mk.{w.one_of('sum', 'max', 'min')}({w.expression('a')} + a, axis=1)")
    w.add(f"b = a - {w.one_of('s', '(s + 1)', '(s * mk.load(y, i))')}[:, None]")
    if random.random() < 0.5:
        w.add(f"b = b + mk.{w.one_of('sum', 'max')}(b, axis=1)[:, None]")
    w.add("mk.store(out, tile, b)")
    return w.done()


MAKERS: dict[tuple[str, str], Callable[[Random], Acting]] = {
    ("cpu", "lockstep"): lockstep,
    ("cpu", "lane-continues"): lane_continues,
    ("cpu", "row-loops"): row_loops,
    ("cpu", "uniform-loops"): uniform_loops,
    ("cpu", "induction"): induction,
    ("cpu", "dot-operands"): dot_operands,
    ("metal", "reduction-fusion"): reduction_fusion,
    ("metal", "dot-operands"): dot_operands,
    ("metal", "all-reduce"): all_reduce,
    ("metal", "dot-to-mma"): dot_to_mma,
    ("metal", "lane-continues"): lane_continues,
    ("metal", "lockstep"): lockstep,
}
"""The passes that only a target has, and what makes kernels for them."""
