"""Random kernels that add products to accumulators, in loops and branches with exits.

The factors are loaded, and never made of products: all sums are exact.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
import eas
from eas import mk


@eas.kernel
def compute(x, out, n):
    p = mk.program_id(0)
    s = n + p
    at = mk.reshape(mk.arange(0, {size}), ({rows}, {columns}))
    signs = mk.where(mk.arange(0, {rows}) % 2 == 0, 1.0, -1.0)
    c = {c}
    d = {d}
    v = mk.load(x, mk.reshape(mk.arange(0, {left}), ({rows}, {inner})))
    w = mk.load(x, 3 + mk.reshape(mk.arange(0, {right}), ({inner}, {columns})))
    a, b = v, w
"""

EXTENTS = (8, 16, 24)
ELEMENTS = 4096
"""How many elements of `x` a kernel may read."""


def write_accumulators(random: Random) -> tuple[str, int]:
    """The text of a kernel, and how many elements of `out` each of its programs has."""
    rows, inner, columns = (random.choice(EXTENTS) for _ in range(3))
    size = rows * columns
    zeros = f"mk.zeros(({rows}, {columns}), mk.f32)"
    start = [random.choice((zeros, zeros, "mk.load(x, 5 + at)")) for _ in "cd"]
    head = _HEAD.format(
        size=size,
        rows=rows,
        columns=columns,
        inner=inner,
        left=rows * inner,
        right=inner * columns,
        c=start[0],
        d=start[1],
    )
    lines = _Lines(random, rows, inner, columns)
    lines.add(random.randrange(2, 5), "    ", False)
    lines.found += [f"    mk.store(out, p * {2 * size} + at, c)"]
    lines.found += [f"    mk.store(out, p * {2 * size} + {size} + at, d)"]
    return head + "\n".join(lines.found) + "\n", 2 * size


class _Lines:
    def __init__(self, random: Random, rows: int, inner: int, columns: int) -> None:
        self.random, self.rows, self.inner, self.columns = random, rows, inner, columns
        self.found: list[str] = []
        self.count = 0

    def add(self, count: int, indent: str, is_looped: bool) -> None:
        for _ in range(count):
            if len(indent) < 16 and self.random.random() < 0.45:
                self.add_nested(indent, is_looped)
            else:
                self.found.append(indent + self.statement())

    def add_nested(self, indent: str, is_looped: bool) -> None:
        kind = self.random.choice(("for", "for", "for", "while", "if", "exit"))
        self.count += 1
        inner, name = indent + "    ", f"k{self.count}"
        if kind == "exit" and not is_looped:
            kind = "for"
        if kind == "if":
            self.found.append(f"{indent}if s % 2 == {self.random.randrange(2)}:")
        elif kind == "exit":
            self.found.append(f"{indent}if s % 5 == 3:")
            self.found.append(f"{inner}{self.random.choice(('break', 'continue'))}")
            return
        elif kind == "for":
            self.found.append(
                f"{indent}for {name} in range({self.random.choice(('n', '2', '0'))}):"
            )
        else:
            self.found += [
                f"{indent}{name} = 0",
                f"{indent}while {name} < n:",
                f"{inner}{name} += 1",
            ]
        if kind != "if":
            self.found += [f"{inner}s += 1", f"{inner}{self.load('a')}", f"{inner}{self.load('b')}"]
        self.add(self.random.randrange(1, 4), inner, is_looped or kind != "if")

    def load(self, name: str) -> str:
        rows, columns = (self.rows, self.inner) if name == "a" else (self.inner, self.columns)
        if self.random.random() < 0.3:  # as it lies in memory, it is transposed
            block = f"mk.reshape(mk.arange(0, {rows * columns}), {(columns, rows)})"
            return f"{name} = mk.trans(mk.load(x, s * 11 + {block}))"
        block = f"mk.reshape(mk.arange(0, {rows * columns}), {(rows, columns)})"
        return f"{name} = mk.load(x, s * 7 + {block})"

    def statement(self) -> str:
        kind = self.random.random()
        if kind < 0.15:
            return self.load(self.random.choice("ab"))
        acc = self.random.choice("ccd")
        left, right = self.random.choice("aav"), self.random.choice("bbw")
        if kind < 0.3:
            factor = self.random.choice(("-1.0", "mk.to_f32(s % 3 - 1)", "signs[:, None]"))
            return f"{acc} = mk.dot({left}, {right}, {acc} * {factor})"
        return f"{acc} = mk.dot({left}, {right}, {acc})"
