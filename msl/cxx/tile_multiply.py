"""The functions above a kernel that multiply two tiles in threadgroup memory, as MSL text.

Each is made for the extents of the tiles and for the fragments that a simdgroup has of the
accumulator. A factor that is a transposed matrix lies in its tile as that matrix does;
`simdgroup_load` transposes it.
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
class Partition:
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
    """A tile with some matrices of so many rows and columns, the rows `length` apart.

    If it is read in place, the kernel chose the length.
    """

    rows: int
    columns: int
    length: int
    is_transposed: bool
    is_in_place: bool = False

    @property
    def extents(self) -> str:
        return f"{self.rows}x{self.columns}"


@frozen
class Product:
    """What a function that multiplies tiles is made for, and its name."""

    partition: Partition
    dtype: DType
    left: Factor
    right: Factor

    @property
    def name(self) -> str:
        batch = self.partition.batches * self.partition.depth
        first = f"{batch}x" if batch > 1 else ""
        transposes = {"nn": ""}.get(self._transposes, f"_{self._transposes}")
        extents = f"{first}{self.left.rows}x{self.left.columns}x{self.right.columns}"
        return f"multiply_{extents}{transposes}{self._lengths}"

    @property
    def _lengths(self) -> str:
        factors = (self.left, self.right)
        if not any(factor.is_in_place for factor in factors):
            return ""
        return "_rows_" + "_".join(str(factor.length) for factor in factors)

    @property
    def _transposes(self) -> str:
        return "".join("nt"[factor.is_transposed] for factor in (self.left, self.right))

    def define(self) -> str:
        """The function; it takes the accumulator, the tiles, and where the box begins."""
        writer = Writer()
        writer.line(f"// {self._comment()}")
        _write_head(self, writer)
        writer.depth += 1
        with (
            _counting("z", self.partition.depth, 1, writer),
            _counting("k", self.left.columns, EDGE, writer),
        ):
            _write_body(self, writer)
        writer.depth -= 1
        writer.line("}")
        return "\n".join(writer.lines)

    def _comment(self) -> str:
        partition = self.partition
        tiles = f"{self.left.extents} and a {self.right.extents} tile"
        return (
            f"Adds the product of a {tiles} to a simdgroup's {partition.m}x{partition.n} fragments."
        )


def _write_head(product: Product, writer: Writer) -> None:
    partition, kind = product.partition, type_name(product.dtype)
    places = {"batch": partition.batches, "row": partition.rows, "column": partition.columns}
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
    partition, kind = product.partition, f"simdgroup_{type_name(product.dtype)}8x8"
    z = "z" if partition.depth > 1 else ""
    batch = _sum("batch" if partition.batches > 1 else "", z)
    k = "k" if product.left.columns > EDGE else ""
    row = _place("row", partition.rows, "i", partition.m)
    column = _place("column", partition.columns, "j", partition.n)
    writer.line(f"{kind} a[{partition.m}];")
    with _counting("i", partition.m, 1, writer):
        writer.line(_load(f"a[{_index('i', partition.m)}]", "left", product.left, batch, row, k))
    with _counting("j", partition.n, 1, writer):
        writer.line(f"{kind} b;")
        writer.line(_load("b", "right", product.right, batch, k, column))
        with _counting("i", partition.m, 1, writer):
            i, j = _index("i", partition.m), _index("j", partition.n)
            box = _times(_sum(_times(z, partition.m), i if i != "0" else ""), partition.n)
            own = f"sum[{_sum(box, j if j != '0' else '') or '0'}]"
            writer.line(f"simdgroup_multiply_accumulate({own}, a[{i}], b, {own});")


def _load(own: str, tile: str, factor: Factor, batch: str, row: str, column: str) -> str:
    rows, transpose = factor.rows, ""
    if factor.is_transposed:
        row, column, rows, transpose = column, row, factor.columns, ", ulong2(0), true"
    place = _sum(_times(_sum(_times(batch, rows), row), factor.length), column)
    start = f"&{tile}[{place}]" if place else tile
    return f"simdgroup_load({own}, {start}, {factor.length}{transpose});"


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
