"""Parallel iterations that all add to a tensor: each adds to partial sums of its own.

    for s in task.parallel_range(parts, reduce={"C": "add"}):
        task.launch(product, C, Ap[0, s], Bp[s, 0])

A nest of parallel loops of the outermost level, of which one reduces, is three kernels: one clears
an array of partial sums in global memory, the grid adds to the partial sums of its iteration, and
the last one adds them to the tensor, in the order of the iterations. The result does not depend on
which iteration ran first. A loop elsewhere, or one with a `pipeline`, runs in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod

from eas.ir.types import DType
from eas.septran.files import Machine
from eas.septran.files.complaints import Complaints
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Binary,
    Expr,
    Fill,
    For,
    Map,
    Operand,
    Origin,
    ParallelFor,
    View,
    accesses,
    bytes_of,
)
from eas.septran.flat.races import is_accumulation
from eas.septran.flat.ranges import Ranges
from eas.septran.flat.substitution import change_views
from eas.septran.logic.values import partitioned, whole
from eas.septran.lowering.tree import (
    Do,
    Guard,
    Loop,
    Node,
    Placed,
    Resident,
    children,
    names_of,
    touches,
)
from eas.support.diagnostics import Label
from eas.support.location import NOWHERE
from eas.support.records import frozen, replace

MOST_PARTS = 256
MOST_BYTES = 1 << 30
_COLUMNS, _ELEMENTS = 1024, 4096  # of a tile that is cleared or added at once
_AT_ONCE = 16  # partial sums that one statement adds

Names = Callable[[str], str]


@frozen
class Tensors:
    """The shapes and dtypes of the tensors in global memory."""

    memory: str
    types: Mapping[str, tuple[tuple[int, ...], DType]]


def split_reductions(
    nodes: Sequence[Node],
    machine: Machine,
    tensors: Tensors,
    fresh: Names,
    complaints: Complaints,
) -> tuple[Node, ...]:
    """Nodes whose reducing loops have partial sums, or run in order."""
    for loop in _reducing(nodes):
        _check_added(loop, complaints)
    return tuple(left for node in nodes for left in _split(node, machine, tensors, fresh))


def _reducing(nodes: Sequence[Node]) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop) and isinstance(node.record, ParallelFor) and node.record.reduced:
            yield node
        yield from _reducing(children(node))


def _check_added(loop: Loop, complaints: Complaints) -> None:
    """What a loop reduces it only adds to (S302)."""
    assert isinstance(loop.record, ParallelFor)
    for name in loop.record.reduced:
        copies = {name, *_copies(loop.body, {name})}
        for node in _statements(loop.body):
            for buffer in {view.buffer for view, _ in accesses(node.stmt)} & copies:
                if is_accumulation(node.stmt, buffer):
                    continue
                where, origin = loop.record.origin.python, node.stmt.origin
                labels = [Label(where, "iterations add to it")] if where is not None else []
                if origin.yaml is not None:
                    labels.append(Label(origin.yaml, "runs it"))
                message = f"`{name}` is reduced, and this does not only add to it"
                place = origin.python or NOWHERE
                help = ["clear it before the loop, and add to it in the loop"]
                complaints.add("S302", message, place, secondary=labels, help=help)


def _copies(nodes: Sequence[Node], names: set[str]) -> Iterator[str]:
    """The buffers that hold copies of some buffers, or copies of these."""
    for node in nodes:
        inner = set(names)
        if isinstance(node, Placed):
            for each in node.residents:
                if each.source is not None and each.source.buffer in inner:
                    inner.add(each.buffer)
                    yield each.buffer
        yield from _copies(children(node), inner)


def _statements(nodes: Sequence[Node]) -> Iterator[Do]:
    for node in nodes:
        if isinstance(node, Do):
            yield node
        yield from _statements(children(node))


def _split(node: Node, machine: Machine, tensors: Tensors, fresh: Names) -> list[Node]:
    """A node of the outermost level."""
    if isinstance(node, Placed) and all(
        each.source is None and each.memory == tensors.memory for each in node.residents
    ):
        own = {each.buffer: (each.shape, each.dtype) for each in node.residents}
        inner = replace(tensors, types={**tensors.types, **own})
        body = tuple(left for each in node.body for left in _split(each, machine, inner, fresh))
        return [replace(node, body=body)]
    nest = list(_nest(node, machine.grid))
    reducing = [
        loop for loop in nest if isinstance(loop.record, ParallelFor) and loop.record.reduced
    ]
    names = {name for loop in reducing for name in _reduced(loop)}
    if len(names) != 1 or any(loop.stages > 1 for loop in reducing):
        return [_in_order(node)]
    [name] = names
    views = [view for view, _ in touches(nest[-1].body) if view.buffer == name]
    parts = [
        (loop.record.variable, loop.record.extent)
        for loop in reducing
        if any(loop.record.variable not in names_of(view) for view in views)
    ]
    if name not in tensors.types or not _is_worth_it(tensors.types[name], parts):
        return [_in_order(node)]
    return [_with_partials(node, name, parts, tensors, reducing[0].record.origin, machine, fresh)]


def _nest(node: Node, grid: str) -> Iterator[Loop]:
    """Parallel loops of which each is all that the one around it does."""
    while isinstance(node, Loop) and isinstance(node.record, ParallelFor):
        if node.record.proc != grid:
            return
        yield node
        if len(node.body) != 1:
            return
        [node] = node.body


def _reduced(loop: Loop) -> tuple[str, ...]:
    return loop.record.reduced if isinstance(loop.record, ParallelFor) else ()


def _is_worth_it(
    tensor: tuple[tuple[int, ...], DType], parts: Sequence[tuple[str, Affine]]
) -> bool:
    shape, dtype = tensor
    if not parts or not shape or not all(extent.is_constant for _, extent in parts):
        return False
    count = prod(extent.value for _, extent in parts)
    return 1 < count <= MOST_PARTS and count * prod(shape) * bytes_of(dtype) <= MOST_BYTES


def _in_order(node: Node) -> Node:
    """A node in which reducing loops run one iteration after the other."""
    if isinstance(node, Do):
        return node
    body = tuple(map(_in_order, node.body))
    if isinstance(node, Loop) and _reduced(node):
        record = node.record
        return replace(node, record=For(record.variable, record.extent, (), 1, record.origin),
                       body=body)  # fmt: skip
    return replace(node, body=body)


def _with_partials(
    node: Node,
    name: str,
    parts: Sequence[tuple[str, Affine]],
    tensors: Tensors,
    origin: Origin,
    machine: Machine,
    fresh: Names,
) -> Placed:
    shape, dtype = tensors.types[name]
    counts = tuple(extent.value for _, extent in parts)
    buffer = fresh(f"{name}_partials")
    because = f"each iteration adds to partial sums of `{name}` of its own"
    here = replace(origin, because=because)
    array = Resident(buffer, dtype, tensors.memory, (*counts, *shape), None, 0, here)
    indices = tuple(affine(variable) for variable, _ in parts)

    def move(view: View) -> View:
        if view.buffer != name:
            return view
        nothing = (None,) * len(indices)
        return replace(view, buffer=buffer, offsets=(*indices, *view.offsets),
                       extents=(*nothing, *view.extents))  # fmt: skip

    tiles = _Tiles(name, buffer, tensors.memory, shape, counts, machine.grid, here, fresh)
    return Placed((array,), (tiles.clear(), _moved(node, move), tiles.add()))


def _moved(node: Node, move: Callable[[View], View]) -> Node:
    """A nest on partial sums, whose loops do not reduce any longer."""
    match node:
        case Do():
            return replace(node, stmt=change_views(node.stmt, move))
        case Placed():
            residents = tuple(
                each if each.source is None else replace(each, source=move(each.source))
                for each in node.residents
            )
            return Placed(residents, tuple(_moved(each, move) for each in node.body))
        case Loop():
            record = node.record
            if isinstance(record, ParallelFor):
                record = replace(record, reduced=())
            body = tuple(_moved(each, move) for each in node.body)
            return replace(node, record=record, body=body)
        case Guard():
            return replace(node, body=tuple(_moved(each, move) for each in node.body))


@frozen
class _Tiles:
    """The kernels before and after: over tiles of the tensor, in parallel."""

    name: str
    buffer: str
    memory: str
    shape: tuple[int, ...]
    counts: tuple[int, ...]
    proc: str
    origin: Origin
    fresh: Names

    def clear(self) -> Node:
        """Fills all partial sums with zeros."""
        variables = [self.fresh("part") for _ in self.counts]
        because = replace(self.origin, because="partial sums begin with zero")
        indices = tuple(map(affine, variables))
        node = self.tiles(
            lambda tile: (Do(Fill(self.partial(indices, tile), 0.0, because)),), because
        )
        for variable, count in reversed(list(zip(variables, self.counts, strict=True))):
            node = self.loop(variable, affine(count), (node,), because)
        return node

    def add(self) -> Node:
        """Adds the partial sums to the tensor, in the order of the iterations."""
        because = replace(self.origin, because=f"the partial sums are added to `{self.name}`")

        def statements(tile: View) -> tuple[Node, ...]:
            every = iter(_indices(self.counts))
            nodes: list[Node] = []
            while group := list(islice(every, _AT_ONCE)):
                value: Expr = Operand(tile)
                for index in group:
                    part = self.partial(tuple(map(affine, index)), tile)
                    value = Binary("add", value, Operand(part))
                nodes.append(Do(Map(tile, value, because)))
            return tuple(nodes)

        return self.tiles(statements, because)

    def partial(self, indices: tuple[Affine, ...], tile: View) -> View:
        nothing = (None,) * len(indices)
        offsets, extents = (*indices, *tile.offsets), (*nothing, *tile.extents)
        return View(self.buffer, self.memory, offsets, extents)

    def tiles(self, make: Callable[[View], tuple[Node, ...]], origin: Origin) -> Node:
        """Loops over the tiles of the tensor."""
        *rows, columns = self.shape
        sizes = [1] * len(rows) + [min(columns, _COLUMNS)]
        if rows:
            sizes[-2] = min(rows[-1], max(1, _ELEMENTS // sizes[-1]))
        tensor = whole(self.name, tuple(map(affine, self.shape)))
        ranges, variables = Ranges(), [self.fresh("tile") for _ in sizes]
        cut = partitioned(tensor, tuple(map(affine, sizes)), (0,) * len(sizes), ranges)
        for variable, count in zip(variables, cut.shape, strict=True):
            ranges = ranges.inside(variable, count)
        picked = cut.pick(tuple(map(affine, variables)), ranges)
        node = make(View(self.name, self.memory, picked.offsets, picked.extents))
        for variable, count in reversed(list(zip(variables, cut.shape, strict=True))):
            node = (self.loop(variable, count, node, origin),)
        return node[0]

    def loop(self, variable: str, extent: Affine, body: tuple[Node, ...], origin: Origin) -> Loop:
        return Loop(ParallelFor(variable, extent, self.proc, (), (), origin), body)


def _indices(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not counts:
        yield ()
        return
    for first in range(counts[0]):
        yield from ((first, *rest) for rest in _indices(counts[1:]))
