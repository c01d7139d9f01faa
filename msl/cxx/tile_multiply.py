"""The functions above a kernel that multiply two tiles in threadgroup memory, as MSL text.

Each is made for the extents of the tiles and for the fragments that a simdgroup has of the sum. A
factor that is a matrix transposed lies in its tile as that matrix does, and is turned when it is
loaded.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from eas.ir.types import DType
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.mma import EDGE
from eas.msl.ops.text import Writer
from eas.support.records import frozen


@frozen
class Shares:
    """`batches` by `rows` by `columns` simdgroups, each with `depth` by `m` by `n` fragments."""

    batches: int
    rows: int
    columns: int
    depth: int
    m: int
    n: int

    @property
    def simdgroups(self) -> int:
        return self.batches * self.rows * self.columns


@frozen
class Factor:
    """A tile with some matrices of so many rows and columns, the rows `length` apart."""

    rows: int
    columns: int
    length: int
    is_flipped: bool

    @property
    def extents(self) -> str:
        return f"{self.rows}x{self.columns}"


@frozen
class Product:
    """What a function that multiplies tiles is made for; its `name` tells it from others."""

    shares: Shares
    dtype: DType
    left: Factor
    right: Factor

    @property
    def name(self) -> str:
        batch = self.shares.batches * self.shares.depth
        first = f"{batch}x" if batch > 1 else ""
        flips = {"nn": ""}.get(self._flips, f"_{self._flips}")
        return f"multiply_{first}{self.left.rows}x{self.left.columns}x{self.right.columns}{flips}"

    @property
    def _flips(self) -> str:
        return "".join("nt"[factor.is_flipped] for factor in (self.left, self.right))

    def define(self) -> str:
        """The function, which takes the sum, the tiles, and where the simdgroup's box begins."""
        writer = Writer()
        writer.line(f"// {self._comment()}")
        _write_head(self, writer)
        writer.depth += 1
        with (
            _counting("z", self.shares.depth, 1, writer),
            _counting("k", self.left.columns, EDGE, writer),
        ):
            _write_body(self, writer)
        writer.depth -= 1
        writer.line("}")
        return "\n".join(writer.lines)

    def _comment(self) -> str:
        shares = self.shares
        tiles = f"{self.left.extents} and a {self.right.extents} tile"
        return f"Adds the product of a {tiles} to a simdgroup's {shares.m}x{shares.n} fragments."


def _write_head(product: Product, writer: Writer) -> None:
    shares, kind = product.shares, type_name(product.dtype)
    places = {"batch": shares.batches, "row": shares.rows, "column": shares.columns}
    parameters = [
        "thread simdgroup_float8x8* sum",
        f"threadgroup const {kind}* left",
        f"threadgroup const {kind}* right",
        *(f"int {name}" for name, count in places.items() if count > 1),
    ]
    head = f"inline void {product.name}("
    indent = " " * len(head)
    lines = f",\n{indent}".join(parameters).split("\n")
    writer.add([f"{head}{lines[0]}", *lines[1:-1], f"{lines[-1]}) {{"])


def _write_body(product: Product, writer: Writer) -> None:
    """One step along the rows of the left tile and the columns of the right one."""
    shares, kind = product.shares, f"simdgroup_{type_name(product.dtype)}8x8"
    z = "z" if shares.depth > 1 else ""
    batch = _sum("batch" if shares.batches > 1 else "", z)
    k = "k" if product.left.columns > EDGE else ""
    row = _place("row", shares.rows, "i", shares.m)
    column = _place("column", shares.columns, "j", shares.n)
    writer.line(f"{kind} a[{shares.m}];")
    with _counting("i", shares.m, 1, writer):
        writer.line(_load(f"a[{_index('i', shares.m)}]", "left", product.left, batch, row, k))
    with _counting("j", shares.n, 1, writer):
        writer.line(f"{kind} b;")
        writer.line(_load("b", "right", product.right, batch, k, column))
        with _counting("i", shares.m, 1, writer):
            i, j = _index("i", shares.m), _index("j", shares.n)
            box = _times(_sum(_times(z, shares.m), i if i != "0" else ""), shares.n)
            own = f"sum[{_sum(box, j if j != '0' else '') or '0'}]"
            writer.line(f"simdgroup_multiply_accumulate({own}, a[{i}], b, {own});")


def _load(own: str, tile: str, factor: Factor, batch: str, row: str, column: str) -> str:
    rows, turned = factor.rows, ""
    if factor.is_flipped:
        row, column, rows, turned = column, row, factor.columns, ", ulong2(0), true"
    place = _sum(_times(_sum(_times(batch, rows), row), factor.length), column)
    start = f"&{tile}[{place}]" if place else tile
    return f"simdgroup_load({own}, {start}, {factor.length}{turned});"


def _index(name: str, count: int) -> str:
    return name if count > 1 else "0"


def _place(start: str, groups: int, index: str, count: int) -> str:
    """The row or column of a fragment: where the simdgroup's box begins, and the one in there."""
    return _sum(start if groups > 1 else "", f"{EDGE} * {index}" if count > 1 else "")


def _sum(*terms: str) -> str:
    return " + ".join(filter(None, terms))


def _times(text: str, factor: int) -> str:
    if factor == 1 or not text:
        return text
    if " + " in text:
        return f"({text}) * {factor}"
    first, times, last = text.partition(" * ")
    if not times:
        return f"{text} * {factor}"
    is_after = last.isdigit()
    return f"{first} * {int(last) * factor}" if is_after else f"{int(first) * factor} * {last}"


@contextmanager
def _counting(name: str, stop: int, step: int, writer: Writer) -> Generator[None]:
    """A loop over the numbers below `stop`; none if there is only zero."""
    if stop <= step:
        yield
        return
    advance = f"++{name}" if step == 1 else f"{name} += {step}"
    with writer.block(f"for (int {name} = 0; {name} < {stop}; {advance})"):
        yield
