"""Kernels: one for each grid of the outermost level, with its allocations first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from eas.septran.files import Machine
from eas.septran.files.complaints import Complaints
from eas.septran.flat.affine import ONE, Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    For,
    If,
    Kernel,
    Module,
    ParallelFor,
    Param,
    Privilege,
    Stmt,
    Temp,
    View,
    accesses,
    walk,
)
from eas.septran.flat.substitution import change_views
from eas.septran.lowering.arguments import TensorType
from eas.septran.lowering.barriers import insert_barriers
from eas.septran.lowering.legality import check_races
from eas.septran.lowering.machines import synchronized_memories
from eas.septran.lowering.pipelining import Slots
from eas.septran.lowering.residency import written_out
from eas.septran.lowering.sharing import share_memory
from eas.septran.lowering.tree import Loop, Node, Placed, Resident, leaves
from eas.support.diagnostics import Label
from eas.support.location import NOWHERE
from eas.support.records import replace

MOST_AXES = 3  # of a grid; parallel loops further inside are loops of a kernel


def make_module(
    name: str,
    machine: Machine,
    arguments: Mapping[str, TensorType],
    nodes: Sequence[Node],
    slots: Mapping[str, Slots],
    complaints: Complaints,
    reserved: int = 0,
    kept: Collection[str] = (),
) -> Module:
    """The module of a whole operator; `reserved` bytes of scratch memories are taken already.

    Of the arguments that are `kept` not all elements are written, or some are read before.
    """
    limits = {
        each: m.capacity - reserved
        for each, m in machine.mems.items()
        if m.kind == "scratch" and m.capacity is not None
    }
    memory = next(each for each, m in machine.mems.items() if m.kind == "global")
    temps, inner = _take_globals(nodes, memory)
    kernels: list[Kernel] = []
    for group in _groups(inner):
        number = f"{name}_{len(kernels)}"
        kernel, own = _kernel(number, machine, arguments, temps, group, slots, limits, complaints)
        kernels.append(kernel)
        temps += own
    if len(kernels) == 1:
        kernels = [replace(kernels[0], name=name)]
    params = tuple(
        Param(each, a.dtype, tuple(map(affine, a.shape)), memory, _privilege(each, kernels, kept))
        for each, a in arguments.items()
    )
    given = {param.name: param for param in params}
    kernels = [
        replace(kernel, params=tuple(replace(given[p.name], privilege=p.privilege)
                                     if p.name in given else p for p in kernel.params))
        for kernel in kernels
    ]  # fmt: skip
    return Module(name, machine.name, params, tuple(temps), tuple(kernels))


def _take_globals(nodes: Sequence[Node], memory: str) -> tuple[list[Temp], list[Node]]:
    """Local tensors of the outermost level in global memory live between kernels."""
    temps: list[Temp] = []
    inner: list[Node] = []
    for node in nodes:
        if isinstance(node, Placed) and all(_is_temp(each, memory) for each in node.residents):
            temps += [
                Temp(each.buffer, each.dtype, tuple(map(affine, each.shape)), each.memory)
                for each in node.residents
            ]
            more, rest = _take_globals(node.body, memory)
            temps += more
            inner += rest
        else:
            inner.append(node)
    return temps, inner


def _is_temp(resident: Resident, memory: str) -> bool:
    return resident.source is None and resident.memory == memory


def _groups(nodes: Sequence[Node]) -> list[list[Node]]:
    """A parallel loop of the outermost level is a kernel of its own."""
    groups: list[list[Node]] = []
    is_open = False
    for node in nodes:
        is_grid = isinstance(node, Loop) and isinstance(node.record, ParallelFor)
        if is_grid or not is_open:
            groups.append([node])
        else:
            groups[-1].append(node)
        is_open = not is_grid
    return groups


def _kernel(
    name: str,
    machine: Machine,
    arguments: Mapping[str, TensorType],
    temps: Sequence[Temp],
    nodes: Sequence[Node],
    slots: Mapping[str, Slots],
    limits: Mapping[str, int],
    complaints: Complaints,
) -> tuple[Kernel, list[Temp]]:
    """A kernel, and the temporary arrays that it alone uses."""
    grid, body = _grid(nodes, machine)
    allocations: list[Alloc] = []
    stmts = [_with_slots(stmt, slots) for stmt in written_out(body, allocations)]
    if any(isinstance(stmt, ParallelFor) for stmt in walk(tuple(stmts))):
        private = frozenset(each.name for each in allocations)
        check_races(Kernel(name, (), tuple(grid), 1, tuple(stmts)), private, complaints)
        stmts = [_in_order(stmt, machine.grid) for stmt in stmts]
    synchronized = dict.fromkeys(synchronized_memories(machine), machine.grid)
    memory = next(each for each, m in machine.mems.items() if m.kind == "global")
    own = {each.name: _shared_out(each, grid) for each in allocations if each.memory == memory}
    stmts = [change_views(stmt, lambda view: _own_part(view, own, grid)) for stmt in stmts]
    placed = [
        replace(each, slots=slots[each.name].count) if each.name in slots else each
        for each in allocations
        if each.name not in own
    ]
    stmts, placed = share_memory(stmts, placed, limits)
    inner = insert_barriers(stmts, synchronized)
    params = [
        *(
            Param(each, a.dtype, tuple(map(affine, a.shape)), memory, _use(each, inner))
            for each, a in arguments.items()
        ),
        *(
            Param(t.name, t.dtype, t.shape, t.memory, _use(t.name, inner))
            for t in (*temps, *own.values())
        ),
    ]
    touched = {view.buffer for stmt in walk(inner) for view, _ in accesses(stmt)}
    used = tuple(each for each in params if each.name in touched)
    threads = _threads(nodes, machine, complaints)
    kernel = Kernel(name, used, tuple(grid), threads, (*placed, *inner))
    return kernel, [each for each in own.values() if each.name in touched]


def _grid(nodes: Sequence[Node], machine: Machine) -> tuple[list[tuple[str, Affine]], list[Node]]:
    """The parallel loops around everything as axes of a grid, and what is inside of them.

    Of more loops than axes, those of a single trip are inside.
    """
    nest, body = _parallel_nest(nodes, machine)
    many = [loop for loop in nest if loop.record.extent != ONE]
    axes = nest if len(nest) <= MOST_AXES else (many or nest)[:MOST_AXES]
    for loop in reversed(nest):
        if not any(loop is axis for axis in axes):
            body = (replace(loop, body=tuple(body)),)
    return [(loop.record.variable, loop.record.extent) for loop in axes], list(body)


def _parallel_nest(nodes: Sequence[Node], machine: Machine) -> tuple[list[Loop], Sequence[Node]]:
    """The parallel loops around everything, the outermost first, and what is inside of them."""
    nest: list[Loop] = []
    body = nodes
    while len(body) == 1 and isinstance(loop := body[0], Loop):
        if not isinstance(loop.record, ParallelFor) or loop.record.proc != machine.grid:
            break
        if loop.record.extent.names & {outer.record.variable for outer in nest}:
            break  # tiles of a ragged tile: their number is not the same in all programs
        nest.append(loop)
        body = loop.body
    return nest, body


def _is_in_order(stmt: Stmt, grid: str) -> bool:
    """Whether a parallel loop is one of a grid's level inside of a program of the grid.

    A program has its buffers once, so it runs the iterations one after the other.
    """
    return isinstance(stmt, ParallelFor) and stmt.proc == grid and not stmt.reduced


def _in_order(stmt: Stmt, grid: str) -> Stmt:
    """A statement whose parallel loops of the grid's level are sequential ones."""
    if not isinstance(stmt, For | ParallelFor | If):
        return stmt
    body = tuple(_in_order(each, grid) for each in stmt.body)
    if isinstance(stmt, ParallelFor) and _is_in_order(stmt, grid):
        return For(stmt.variable, stmt.extent, body, 1, stmt.origin)
    return replace(stmt, body=body)


def _threads(nodes: Sequence[Node], machine: Machine, complaints: Complaints) -> int:
    """The threads of a program: what an instance asks for, else the machine's own number (S402)."""
    asked = dict.fromkeys(each.threads for each in leaves(nodes) if each.threads.count is not None)
    if not asked:
        return machine.procs[machine.grid].threads
    first, *others = asked
    for other in others:
        if other.count != first.count:
            message = f"a program of {first.count} threads has a part that asks for {other.count}"
            secondary = [] if first.loc is None else [Label(first.loc, "asked for here")]
            complaints.add("S402", message, other.loc or NOWHERE, secondary=secondary)
    return first.count or 1


Grid = Sequence[tuple[str, Affine]]


def _shared_out(alloc: Alloc, grid: Grid) -> Temp:
    """A buffer of a kernel in global memory: an array with a part for each point of the grid."""
    *rows, row = alloc.shape or (1,)
    shape = (*(extent for _, extent in grid), *map(affine, (*rows, row + alloc.pad)))
    return Temp(alloc.name, alloc.dtype, shape, alloc.memory)


def _own_part(view: View, own: Mapping[str, Temp], grid: Grid) -> View:
    """A view of such a buffer in the part of the point of the grid."""
    if view.buffer not in own:
        return view
    names = tuple(affine(name) for name, _ in grid)
    offsets, extents = (*names, *view.offsets), (*(None for _ in grid), *view.extents)
    if len(offsets) < len(own[view.buffer].shape):  # a single number is an array of one
        offsets, extents = (*offsets, affine(0)), (*extents, None)
    return replace(view, offsets=offsets, extents=extents)


def _with_slots(stmt: Stmt, slots: Mapping[str, Slots]) -> Stmt:
    def change(view: View) -> View:
        found = slots.get(view.buffer)
        return view if found is None else replace(view, slot=found.index)

    return change_views(stmt, change)


def _use(name: str, body: Sequence[Stmt]) -> Privilege:
    """What statements do with a buffer: `w` only if nothing reads it."""
    hows = {
        how for stmt in walk(tuple(body)) for view, how in accesses(stmt) if view.buffer == name
    }
    if hows == {"w"}:
        return "w"
    return "r" if hows <= {"r"} else "rw"


def _privilege(name: str, kernels: Sequence[Kernel], kept: Collection[str]) -> Privilege:
    hows = {p.privilege for kernel in kernels for p in kernel.params if p.name == name}
    if not hows:
        return "r"
    first = next(p.privilege for kernel in kernels for p in kernel.params if p.name == name)
    if first == "w" and name not in kept:
        return "w"
    return "r" if hows == {"r"} else "rw"
