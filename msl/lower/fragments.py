"""The fragments of accumulators: how simdgroups divide them up, and the text of their places.

An accumulator is partitioned into boxes, one for each simdgroup: some matrices of a batch, some
rows, some columns. A simdgroup has the fragments of its box in an array of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from eas.ir.nodes import TargetOp
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BOOL, I32
from eas.msl.cxx.tile_multiply import Partition
from eas.msl.cxx.tree import Block, Loop, Node, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.mma import EDGE
from eas.msl.ops.text import Level, Text
from eas.support.records import frozen

Index = Variable | None
"""The counter of a loop over fragments; None if there is only one."""

At = tuple[Index, Index, Index]
"""A fragment in its box: which matrix, which row of fragments, which column."""


@frozen
class Fragments:
    """The fragments of one simdgroup, and where their box begins; None is zero."""

    partition: Partition
    array: Variable
    batch: Node | None
    row: Node | None
    column: Node | None

    @property
    def origin(self) -> list[Node]:
        return [each for each in (self.batch, self.row, self.column) if each is not None]


@frozen
class Start:
    """The texts of a simdgroup's first matrix, row and column, and of other operands."""

    batch: str
    row: str
    column: str
    others: Sequence[Text]


def partition(batch: int, m: int, n: int, simdgroups: int) -> Partition:
    """As many simdgroups as divide the fragments evenly, with rectangles close to squares."""
    tall, wide = m // EDGE, n // EDGE
    choices = [
        Partition(batches, rows, columns, batch // batches, tall // rows, wide // columns)
        for batches in range(1, min(batch, simdgroups) + 1)
        for rows in range(1, min(tall, simdgroups // batches) + 1)
        for columns in range(1, min(wide, simdgroups // batches // rows) + 1)
        if batch % batches == 0 and tall % rows == 0 and wide % columns == 0
    ]
    return min(choices, key=lambda each: (-each.simdgroups, each.depth * (each.m + each.n)))


def find_origin(parts: Partition, low: Lowering) -> tuple[Node | None, Node | None, Node | None]:
    """The first matrix, row and column of a simdgroup's box."""
    inner = parts.rows * parts.columns
    return (
        _find_start("batch", 1, inner, parts.batches, parts.depth, low),
        _find_start("row", inner, parts.columns, parts.rows, parts.m * EDGE, low),
        _find_start("column", parts.columns, 1, parts.columns, parts.n * EDGE, low),
    )


def _find_start(
    hint: str, period: int, divisor: int, count: int, extent: int, low: Lowering
) -> Node | None:
    if count == 1:
        return None
    text = "{simdgroup}"
    if period not in (1, low.threads // SIMD):
        text += f" % {period}"
    if divisor > 1:
        text += f" / {divisor}"
    key = ("place", hint, text, extent)
    if key not in low.root.nodes:
        part = low.builtin("simdgroup", f"int({text})", I32)
        if extent > 1:
            part = low.infix("*", part, low.literal(extent, I32), Level.PRODUCT, I32)
        part.fallback = hint
        low.root.nodes[key] = part
    return low.root.nodes[key]


def act_on(
    op: TargetOp,
    low: Lowering,
    found: Fragments,
    spell: Callable[[Start], str],
    changes: frozenset[object] = frozenset(),
) -> None:
    """A statement about the fragments of a simdgroup; `spell` takes where their box begins."""
    low.act(lambda texts: Text(spell(start_of(found, texts))), found.origin, changes, op.loc)


def start_of(found: Fragments, texts: Sequence[Text]) -> Start:
    given = iter(texts)
    batch, row, column = (
        "0" if place is None else next(given).text
        for place in (found.batch, found.row, found.column)
    )
    return Start(batch, row, column, tuple(given))


def name_of(index: Index) -> str:
    return "0" if index is None else index.name


def sum_of(*terms: str) -> str:
    return " + ".join(term for term in terms if term != "0") or "0"


def times(text: str, factor: int) -> str:
    if factor == 1 or text == "0":
        return text
    return f"({text}) * {factor}" if " + " in text else f"{text} * {factor}"


def divided(text: str, operator: str, by: int) -> str:
    return f"({text}) {operator} {by}" if " " in text else f"{text} {operator} {by}"


def moved(start: str, index: Index) -> str:
    """A row or a column: that of the fragment with this index in its box."""
    return sum_of(start, f"{EDGE} * {index.name}" if index is not None else "0")


def fragment(found: Fragments, at: At) -> str:
    z, i, j = at
    parts = found.partition
    row = sum_of(times(name_of(z), parts.m), name_of(i))
    return f"{found.array.name}[{sum_of(times(row, parts.n), name_of(j))}]"


def block_row(start: Start, m: int, at: At) -> str:
    """The first row of a fragment in a block: in the rows of all its matrices, `m` each."""
    z, i, _ = at
    return sum_of(times(sum_of(start.batch, name_of(z)), m), moved(start.row, i))


def block_index(start: Start, m: int, length: int, at: At) -> str:
    """The index of a fragment's first element in a block with rows of some length."""
    z, i, j = at
    matrix = times(sum_of(start.batch, name_of(z)), m)
    row = sum_of(matrix, start.row)
    if row == "0":  # the rows of fragments are so far apart
        return sum_of(times(name_of(i), EDGE * length), moved(start.column, j))
    return sum_of(times(sum_of(row, moved("0", i)), length), moved(start.column, j))


@contextmanager
def counting(hint: str, stop: int, low: Lowering, op: TargetOp) -> Generator[Index]:
    """Statements for each number below `stop`; without a loop if there is only zero."""
    if stop == 1:
        yield None
        return
    body, counter = Block(low.block, is_loop=True), Variable(hint, I32)

    def head(_: object) -> str:
        name = counter.name
        return f"for (int {name} = 0; {name} < {stop}; ++{name})"

    with low.inside(body):
        yield counter
    low.emit(Loop([], loc=op.loc, spell=head, body=body, counters=[counter]))


@contextmanager
def each_fragment(found: Fragments, low: Lowering, op: TargetOp) -> Generator[At]:
    """Statements for each fragment of a simdgroup."""
    with (
        counting("z", found.partition.depth, low, op) as z,
        counting("i", found.partition.m, low, op) as i,
        counting("j", found.partition.n, low, op) as j,
    ):
        yield z, i, j


@contextmanager
def working(found: Fragments, low: Lowering, op: TargetOp) -> Generator[None]:
    """Statements of the simdgroups that have fragments."""
    with low.guard(has_work(found, low), op.loc):
        yield


def has_work(found: Fragments, low: Lowering) -> Node | None:
    """Whether a simdgroup has fragments; None if all have."""
    count = found.partition.simdgroups
    if count == low.threads // SIMD:
        return None
    return low.builtin("simdgroup", f"{{simdgroup}} < {count}", BOOL)
