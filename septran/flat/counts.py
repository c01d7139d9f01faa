"""How often a module copies, waits, synchronizes and multiplies, and how many bytes it moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Call,
    Copy,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Module,
    ParallelFor,
    Reduce,
    Start,
    Stmt,
    View,
    Wait,
    accesses,
    bytes_of,
    holds,
    walk,
)
from eas.support.records import field, frozen, record


@record
class Tally:
    """What some statements do. `moved` are bytes by the memories that they go between."""

    copies: int = 0
    waits: int = 0
    barriers: int = 0
    mmas: int = 0
    flops: int = 0  # of products only
    maps: int = 0
    reductions: int = 0
    fills: int = 0
    calls: int = 0
    moved: Counter[str] = field(default_factory=Counter[str])

    @property
    def bytes(self) -> int:
        """All bytes that are copied."""
        return self.moved.total()

    def add(self, other: Tally, times: int = 1) -> None:
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + times * getattr(other, name))
        for arrow, count in other.moved.items():
            self.moved[arrow] += times * count


_NUMBERS = (
    "copies", "waits", "barriers", "mmas", "flops", "maps", "reductions", "fills", "calls"
)  # fmt: skip


@frozen
class Row:
    """A kernel or a loop of it: how often it runs, what a run does, what all runs do.

    A loop's `first` is what its first trip does.
    """

    kernel: str
    loop: str
    runs: int
    first: Tally
    total: Tally


def count(module: Module, sizes: Mapping[str, int]) -> list[Row]:
    """A row for each kernel, where a run is a point of the grid, and for each of its loops."""
    rows: list[Row] = []
    for kernel in module.kernels:
        rows += _Counting(kernel, sizes).rows()
    return rows


def print_counts(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    arrows = sorted({arrow for row in rows for arrow in row.total.moved})
    head = ["kernel", "loop", "runs", "per run: copies", "waits", "barriers", "mma", "bytes"]
    head += ["in all: copies", "barriers", "mma", "bytes", *arrows]
    lines = [head]
    for row in rows:
        first, total = row.first, row.total
        per_run = [first.copies, first.waits, first.barriers, first.mmas, first.bytes]
        in_all = [total.copies, total.barriers, total.mmas, total.bytes]
        moved = [total.moved[arrow] for arrow in arrows]
        lines.append([row.kernel, row.loop, *map(str, (row.runs, *per_run, *in_all, *moved))])
    widths = [max(len(line[n]) for line in lines) for n in range(len(head))]
    text = (
        "  ".join(
            cell.ljust(width) if n < 2 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
    return "".join(line.rstrip() + "\n" for line in text)


@record
class _LoopCount:
    runs: int = 0
    first: Tally | None = None
    total: Tally = field(default_factory=Tally)


class _Counting:
    """Walks a kernel's control flow at given sizes, without its data."""

    def __init__(self, kernel: Kernel, sizes: Mapping[str, int]) -> None:
        self.kernel = kernel
        self.values = dict(sizes)
        self.buffers: dict[str, Buffer] = {param.name: param for param in kernel.params}
        allocations = (stmt for stmt in walk(kernel.body) if isinstance(stmt, Alloc))
        self.buffers.update((stmt.name, stmt) for stmt in allocations)
        self.loops: dict[str, _LoopCount] = {}
        self.times = 1  # how many runs the present one stands for

    def rows(self) -> Iterator[Row]:
        first: Tally | None = None
        total = Tally()
        runs = 0
        for _ in self.points(self.kernel.grid):
            tally = self.body(self.kernel.body, "")
            first = first or tally
            total.add(tally, self.times)
            runs += self.times
        yield Row(self.kernel.name, "", runs, first or Tally(), total)
        for loop, counted in self.loops.items():
            inner = counted.first or Tally()
            yield Row(self.kernel.name, loop, counted.runs, inner, counted.total)

    def points(self, grid: Sequence[tuple[str, Affine]]) -> Iterator[None]:
        if not grid:
            yield
            return
        (name, extent), *rest = grid
        used = _names_in(self.kernel.body).union(*(each.names for _, each in rest))
        for _ in self.trips(name, extent, used):
            yield from self.points(rest)

    def trips(self, variable: str, extent: Affine, used: Set[str]) -> Iterator[int]:
        """How many trips each one stands for: all are equal if nothing counts the variable."""
        count = extent.evaluate(self.values)
        if count and variable not in used:
            self.values[variable] = 0
            self.times *= count
            yield count
            self.times //= count
            return
        for value in range(count):
            self.values[variable] = value
            yield 1

    def body(self, body: Sequence[Stmt], path: str) -> Tally:
        tally = Tally()
        for stmt in body:
            match stmt:
                case For() | ParallelFor():
                    tally.add(self.loop(stmt, f"{path}/{stmt.variable}".lstrip("/")))
                case If():
                    left = stmt.left.evaluate(self.values)
                    if holds(left, stmt.comparison, stmt.right.evaluate(self.values)):
                        tally.add(self.body(stmt.body, path))
                case _:
                    self.simple(stmt, tally)
        return tally

    def loop(self, stmt: For | ParallelFor, path: str) -> Tally:
        counted = self.loops.setdefault(path, _LoopCount())
        tally = Tally()
        for times in self.trips(stmt.variable, stmt.extent, _names_in(stmt.body)):
            trip = self.body(stmt.body, path)
            counted.first = counted.first or trip
            counted.runs += self.times
            counted.total.add(trip, self.times)
            tally.add(trip, times)
        return tally

    def simple(self, stmt: Stmt, tally: Tally) -> None:
        match stmt:
            case Copy() | Start():
                tally.copies += 1
                arrow = f"{stmt.source.memory}->{stmt.target.memory}"
                tally.moved[arrow] += self.bytes(stmt.source)
            case Mma():
                tally.mmas += 1
                tally.flops += 2 * self.elements(stmt.target) * stmt.depth.evaluate(self.values)
            case Wait():
                tally.waits += 1
            case Barrier():
                tally.barriers += 1
            case Map():
                tally.maps += 1
            case Reduce():
                tally.reductions += 1
            case Fill():
                tally.fills += 1
            case Call():
                tally.calls += 1
            case _:
                pass

    def elements(self, view: View) -> int:
        product = 1
        for extent in view.shape:
            product *= extent.evaluate(self.values)
        return product

    def bytes(self, view: View) -> int:
        return self.elements(view) * bytes_of(self.buffers[view.buffer].dtype)


def _names_in(body: Sequence[Stmt]) -> frozenset[str]:
    """The names that counts depend on: those in extents and conditions, not in offsets."""
    found: set[str] = set()
    for stmt in walk(tuple(body)):
        match stmt:
            case For() | ParallelFor():
                found |= set(stmt.extent.names)
            case If():
                found |= {*stmt.left.names, *stmt.right.names}
            case _:
                for view, _ in accesses(stmt):
                    found.update(name for extent in view.shape for name in extent.names)
    return frozenset(found)
