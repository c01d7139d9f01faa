"""Random kernels that multiply matrices from threadgroup memory, whose slots they also change.

Matrices lie there row by row or transposed, with rows of any length, in one to three slots. The
sums are exact: all factors are loaded, and never made of products.
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
    i, j = mk.arange(0, {rows})[:, None], mk.arange(0, {columns})[None, :]
    signs = mk.where(mk.arange(0, {rows}) % 2 == 0, 1.0, -1.0)
    c, d = mk.zeros(({rows}, {columns}), mk.f32), mk.zeros(({rows}, {columns}), mk.f32)
"""

EXTENTS = (8, 16, 24)
ELEMENTS = 4096
"""How many elements of `x` a kernel may read."""


def write_resident(random: Random) -> tuple[str, int]:
    """The text of a kernel, and how many elements of `out` each of its programs has."""
    rows, inner, columns = (random.choice(EXTENTS) for _ in range(3))
    size = rows * columns
    lines = _Lines(random, {"a": _Matrix(random, "a", rows, inner)})
    lines.matrices["b"] = _Matrix(random, "b", inner, columns)
    for matrix in lines.matrices.values():
        lines.found += matrix.begin()
    lines.add(random.randrange(3, 7), "    ", False)
    lines.found += [f"    mk.store(out, p * {2 * size} + i * {columns} + j, c)"]
    lines.found += [f"    mk.store(out, p * {2 * size} + {size} + i * {columns} + j, d)"]
    return _HEAD.format(rows=rows, columns=columns) + "\n".join(lines.found) + "\n", 2 * size


class _Matrix:
    """A factor, and the array that it lies in."""

    def __init__(self, random: Random, name: str, rows: int, columns: int) -> None:
        self.random, self.name, self.array = random, name, f"{name}_slots"
        self.is_transposed = random.random() < 0.3
        self.rows, self.columns = (columns, rows) if self.is_transposed else (rows, columns)
        self.length = self.columns + random.choice((0, 0, 1, 4))
        self.slots = random.randrange(1, 4)
        self.start = random.choice((0, 0, 3))
        self.size = self.start + self.rows * self.length

    def begin(self) -> list[str]:
        down, along = (
            f"mk.arange(0, {self.rows})[:, None]",
            f"mk.arange(0, {self.columns})[None, :]",
        )
        return [
            f"    {self.array} = mk.alloc_tg({self.slots * self.size}, mk.f32)",
            f"    {self.name}_at = {self.start} + {down} * {self.length} + {along}",
            *(f"    {self.store(str(slot))}" for slot in range(self.slots)),
            f"    {self.load('0')}",
        ]

    def slot(self) -> str:
        ahead = self.random.choice(("s", "(s + 1)", "(s + 2)"))
        return self.random.choice((f"{ahead} % {self.slots}", f"{self.slots - 1}"))

    def store(self, slot: str) -> str:
        place = f"{slot} * {self.size} + {self.name}_at"
        return f"mk.store({self.array}, {place}, mk.load(x, s * 7 + {slot} + {self.name}_at))"

    def load(self, slot: str) -> str:
        block = f"mk.load({self.array}, {slot} * {self.size} + {self.name}_at)"
        return (
            f"{self.name} = mk.trans({block})" if self.is_transposed else f"{self.name} = {block}"
        )


class _Lines:
    def __init__(self, random: Random, matrices: dict[str, _Matrix]) -> None:
        self.random, self.matrices = random, matrices
        self.found: list[str] = []
        self.count = 0

    def add(self, count: int, indent: str, is_looped: bool) -> None:
        for _ in range(count):
            if len(indent) < 16 and self.random.random() < 0.35:
                self.add_nested(indent, is_looped)
            else:
                self.found.append(indent + self.statement())

    def add_nested(self, indent: str, is_looped: bool) -> None:
        kind = self.random.choice(("for", "for", "if", "exit" if is_looped else "for"))
        self.count += 1
        inner = indent + "    "
        if kind == "exit":
            end = self.random.choice(("break", "continue"))
            self.found += [f"{indent}if s % 5 == 3:", f"{inner}{end}"]
            return
        if kind == "if":
            self.found.append(f"{indent}if s % 2 == {self.random.randrange(2)}:")
        else:
            trips = self.random.choice(("n", "n", "2", "0"))
            self.found += [f"{indent}for k{self.count} in range({trips}):", f"{inner}s += 1"]
        self.add(self.random.randrange(1, 5), inner, is_looped or kind != "if")

    def statement(self) -> str:
        kind, matrix = self.random.random(), self.matrices[self.random.choice("ab")]
        if kind < 0.2:
            return matrix.store(matrix.slot())
        if kind < 0.45:
            return matrix.load(matrix.slot())
        if kind < 0.5:
            return f"d = d + mk.sum({matrix.name})"
        acc = self.random.choice("ccd")
        if kind < 0.65:
            factor = self.random.choice(("-1.0", "mk.to_f32(s % 3 - 1)", "signs[:, None]"))
            return f"{acc} = mk.dot(a, b, {acc} * {factor})"
        return f"{acc} = mk.dot(a, b, {acc})"
