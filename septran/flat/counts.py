"""How often a module copies, waits, synchronizes and multiplies, and how many bytes it moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Call,
    Comparison,
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
from eas.septran.flat.ranges import Bounds, bounds_of
from eas.support.records import field, frozen, record


@record
class Tally:
    """What some statements do.

    `moved` are bytes by the memories that they go between, `touched` bytes by the memory in which
    statements read or write them, and `elements` those that element-wise statements compute.
    """

    copies: int = 0
    waits: int = 0
    barriers: int = 0
    mmas: int = 0
    flops: int = 0  # of products only
    maps: int = 0
    reductions: int = 0
    fills: int = 0
    calls: int = 0
    elements: int = 0
    moved: Counter[str] = field(default_factory=Counter[str])
    touched: Counter[str] = field(default_factory=Counter[str])

    @property
    def bytes(self) -> int:
        """All bytes that are copied."""
        return self.moved.total()

    def add(self, other: Tally, times: int = 1) -> None:
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + times * getattr(other, name))
        for arrow, count in other.moved.items():
            self.moved[arrow] += times * count
        for memory, count in other.touched.items():
            self.touched[memory] += times * count


_NUMBERS = (
    "copies", "waits", "barriers", "mmas", "flops", "maps", "reductions", "fills", "calls",
    "elements",
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
    """Walks a kernel's control flow at given sizes, without its data.

    Trips of a loop that all do the same are walked once.
    """

    def __init__(self, kernel: Kernel, sizes: Mapping[str, int]) -> None:
        self.kernel = kernel
        self.values = dict(sizes)  # of sizes, and of the variables of the loops around
        self.buffers: dict[str, Buffer] = {param.name: param for param in kernel.params}
        allocations = (stmt for stmt in walk(kernel.body) if isinstance(stmt, Alloc))
        self.buffers.update((stmt.name, stmt) for stmt in allocations)
        self.loops: dict[str, _LoopCount] = {}
        self.times = 1  # how many runs the present one stands for
        self.decisions: dict[int, tuple[_Decision, ...]] = {}  # by the id of a loop

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
        decisions = [*_decisions(self.kernel.body), *(_Decision(each) for _, each in rest)]
        for _ in self.trips(name, extent, decisions):
            yield from self.points(rest)

    def trips(self, variable: str, extent: Affine, decisions: Sequence[_Decision]) -> Iterator[int]:
        """How many trips each one stands for, with the variable set to the first of them."""
        varying = [each for each in decisions if variable in each.number.names]
        span = (0, extent.evaluate(self.values))
        for first, times in _Trips(variable, self.values, varying).merged(span):
            self.values[variable] = first
            self.times *= times
            yield times
            self.times //= times
        self.values.pop(variable, None)

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
        if id(stmt) not in self.decisions:
            self.decisions[id(stmt)] = tuple(_decisions(stmt.body))
        for times in self.trips(stmt.variable, stmt.extent, self.decisions[id(stmt)]):
            trip = self.body(stmt.body, path)
            counted.first = counted.first or trip
            counted.runs += self.times
            counted.total.add(trip, self.times)
            tally.add(trip, times)
        return tally

    def simple(self, stmt: Stmt, tally: Tally) -> None:
        for view, _ in accesses(stmt):
            tally.touched[view.memory] += self.bytes(view)
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
                tally.elements += self.elements(stmt.target)
            case Reduce():
                tally.reductions += 1
                tally.elements += self.elements(stmt.source)
            case Fill():
                tally.fills += 1
                tally.elements += self.elements(stmt.target)
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


@frozen
class _Decision:
    """A number that counts depend on: itself, or whether it compares so to 0."""

    number: Affine
    comparison: Comparison | None = None

    def evaluate(self, values: Mapping[str, int]) -> int:
        number = self.number.evaluate(values)
        return number if self.comparison is None else holds(number, self.comparison, 0)

    def is_same(self, bounds: Bounds) -> bool:
        """Whether it is the same for all numbers in some bounds."""
        low, high = bounds
        if low == high or self.comparison is None:
            return low == high
        if self.comparison in ("==", "!="):
            return low > 0 or high < 0
        return holds(low, self.comparison, 0) == holds(high, self.comparison, 0)


def _decisions(body: Sequence[Stmt]) -> Iterator[_Decision]:
    """What counts depend on: extents and conditions, not offsets."""
    found: dict[_Decision, None] = {}
    for stmt in walk(tuple(body)):
        match stmt:
            case For() | ParallelFor():
                found[_Decision(stmt.extent)] = None
            case If():
                found[_Decision(stmt.left - stmt.right, stmt.comparison)] = None
            case _:
                for view, _ in accesses(stmt):
                    found.update(dict.fromkeys(map(_Decision, view.shape)))
    yield from found


@record
class _Trips:
    """The trips of a loop, by what they decide. `values` are those of the names from outside."""

    variable: str
    values: Mapping[str, int]
    decisions: Sequence[_Decision]

    def merged(self, span: Bounds) -> Iterator[tuple[int, int]]:
        """Runs of trips that all do the same: the first trip, and how many they are."""
        known = {self.variable, *self.values}
        if not all(each.number.names <= known for each in self.decisions):
            yield from ((trip, 1) for trip in range(*span))  # loops inside decide, too
            return
        before, start = None, 0
        for first, _ in self.equal(span):
            values = {**self.values, self.variable: first}
            decided = [each.evaluate(values) for each in self.decisions]
            if decided != before and first:
                yield start, first - start
                start = first
            before = decided
        if span[1] > 0:
            yield start, span[1] - start

    def equal(self, span: Bounds) -> Iterator[Bounds]:
        """Spans of trips for which all decisions are the same.

        A span that is not seen to be one is cut in half: of a loop over tiles, of which only the
        last one is ragged, that takes as many steps as its number of trips has digits.
        """
        first, end = span
        if first >= end:
            return

        def bounds(name: str) -> Bounds:
            if name == self.variable:
                return first, end - 1
            return self.values[name], self.values[name]

        is_one = first + 1 == end
        if is_one or all(d.is_same(bounds_of(d.number, bounds)) for d in self.decisions):
            yield span
            return
        middle = (first + end) // 2
        yield from self.equal((first, middle))
        yield from self.equal((middle, end))
