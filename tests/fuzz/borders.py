"""Random kernels with one access to `x` whose offset is anything, below loops and branches."""

from __future__ import annotations

from random import Random

GRIDS = ((1,), (1,), (2,), (3,), (7,), (2, 3), (1, 5), (2, 1, 3))
DTYPES = ("i4", "i4", "i1", "u2", "i8")  # of `x`
LANES = (1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 64, 100)
MOST_LANES = 7 * 100
COLUMNS = 7  # of `x`, where it has two axes

_HEAD = """\
import eas
from eas import mk


def fetch(array, offset, mask):
    return mk.load(array, offset, mask)  # HERE


@eas.kernel
def touch(x, index, out, n, m, shift):
    column, row, plane = mk.program_id(0), mk.program_id(1), mk.program_id(2)
    pid = (plane * mk.num_programs(1) + row) * mk.num_programs(0) + column
"""

# How the access is written, and what it is. What loads read is added to `s`; what atomics give
# depends on the order of lanes. An access without a mask of its own is put below an `if`.
_KINDS = {
    "mk.load(x, {at}, {mask})": "load",
    "mk.load(x + ({at}), {mask})": "load",
    "fetch(x, {at}, {mask})": "load",
    "mk.sum(mk.load(x, {at}, {mask}))": "sum",
    "mk.atomic_add(x, {at}, 1, {mask})": "update",
    "mk.atomic_max(x, {at}, 7, {mask})": "update",
    "mk.store(x, {at}, 1, {mask})": "store",
    "x[{at}]": "index",
    "x[{at}] = 1": "assign",
    "x[{at}, {column}]": "index",
    "x[{column}, {at}] = 1": "assign",
}


class Border:
    """The text of a kernel, the shape of its `x` for an extent, and how it is launched."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.grid = random.choice(GRIDS)
        self.dtype = random.choice(DTYPES)
        self.is_wide = random.random() < 0.3  # whether offsets have 64 bits
        self.form = random.choice(list(_KINDS))
        self.step = random.choice((1, 1, 2, -1, -3)) if _KINDS[self.form] in _INDEXED else 1
        self.atoms = ["pid", "row", "plane", "n", "m", "2", "5"]
        self.lines: list[str] = []
        self.count = 0
        self._begin()
        self._nest("    ", random.randrange(4))
        self.lines.append("    mk.store(out, own, s)")
        self.text = _HEAD + "\n".join(self.lines) + "\n"

    def shape(self, extent: int) -> tuple[int, ...]:
        if "column" not in self.form:
            return (extent,)
        return (COLUMNS, extent) if self.form.startswith("x[{column}") else (extent, COLUMNS)

    @property
    def axis(self) -> int:
        """The axis of `x` along which the offset counts."""
        return int(self.form.startswith("x[{column}"))

    def _begin(self) -> None:
        kind = self.random.choice(("block", "block", "tile", "threads", "scalar"))
        lanes = self.random.choice(LANES)
        if kind == "scalar":
            self.lines.append("    own = pid")
        elif kind == "tile":
            rows, columns = self.random.choice(LANES[:5]), self.random.choice(LANES[:6])
            self.lines += [
                f"    r, c = mk.arange(0, {rows})[:, None], mk.arange(0, {columns})[None, :]",
                f"    own = (pid * {rows} + r) * {columns} + c",
            ]
            self.atoms += ["r", "c", "r", "c"]
        else:
            first = f"mk.tid(0, {lanes})" if kind == "threads" else f"mk.arange(0, {lanes})"
            self.lines += [f"    i = {first}", f"    own = pid * {lanes} + i"]
            self.atoms += ["i", "own", "i", "own"]
        if kind != "scalar":
            self.atoms.append("mk.load(index, own % 16)")
        if kind in ("threads", "scalar") and "mk.sum" in self.form:
            self.form = "mk.load(x, {at}, {mask})"
        self.lines.append("    s, far = own * 0, own * 0 + 1")

    def _nest(self, indent: str, depth: int) -> None:
        if depth == 0:
            self._access(indent)
            return
        inner = indent + "    "
        self.count += 1
        name, kind = f"k{self.count}", self.random.choice(("for", "for", "while", "lanes", "if"))
        if kind == "for":
            stop, step = self._expression(1, scalar=True), self.random.choice((1, 1, 2, 3))
            self.lines.append(
                f"{indent}for {name} in range({self._small()}, 1 + {stop} % 6, {step}):"
            )
            self.atoms.append(name)
        elif kind == "if":
            is_scalar = self.random.random() < 0.5 or "mk.sum" in self.form
            self.lines.append(f"{indent}if {self._condition(is_scalar)}:")
        else:
            is_scalar = kind == "while" or "mk.sum" in self.form
            limit = f"1 + ({self._expression(1, is_scalar)}) % 5"
            self.lines += [f"{indent}{name} = {self._small()}", f"{indent}while {name} < {limit}:"]
            self.lines.append(f"{inner}{name} += 1")
            self.atoms.append(name)
        if kind != "if" and self.random.random() < 0.4:
            self.lines.append(f"{inner}far += {self.random.choice(('1', 'n', '3', '-2'))}")
            self.atoms.append("far")
        self._nest(inner, depth - 1)

    def _access(self, indent: str) -> None:
        kind = _KINDS[self.form]
        mask = self._condition() if self.random.random() < 0.6 else ""
        if mask and self.random.random() < 0.4:
            mask = f"({mask}) & ({self._condition()})"
        if kind in _INDEXED:
            if mask:
                self.lines.append(f"{indent}if {mask}:")
                indent += "    "
            column = f"({self._expression(1)}) % {COLUMNS}"
        else:
            column = ""
        at = f"{self._expression(2)} + shift"
        text = self.form.format(at=at, mask=f"mask={mask or None}", column=column)
        text = text if kind in ("store", "assign", "update") else f"s += {text}.to(mk.i32)"
        self.lines.append(f"{indent}{text}{'' if 'fetch' in text else '  # HERE'}")

    def _small(self) -> int:
        return self.random.choice((0, 0, 1, 2))

    def _condition(self, scalar: bool = False) -> str:
        if self.random.random() < 0.4:  # mostly true
            return f"({self._expression(1, scalar)}) % 5 != {self._small()}"
        order = self.random.choice(("<", "<", "<=", ">", ">=", "=="))
        return f"{self._expression(1, scalar)} {order} {self._expression(0, scalar)}"

    def _expression(self, depth: int, scalar: bool = False) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([a for a in self.atoms if not scalar or a in _SCALARS])
        a, b = (self._expression(depth - 1, scalar) for _ in range(2))
        by = self.random.choice((1, 2, 3, 4, 7))
        return self.random.choice(
            (
                f"{a} + {b}",
                f"{a} - {b}",
                f"({a}) * {by}",
                f"({a}) * {-by}",
                f"({a}) // {by}",
                f"({a}) % {by}",
                f"mk.minimum({a}, {b})",
                f"mk.maximum({a}, {b})",
                f"mk.where({a} < {b}, {a}, {b} + {by})",
            )
        )


_INDEXED = ("index", "assign")
_SCALARS = {"pid", "row", "plane", "n", "m", "2", "5"}
