"""Moves residents outwards, so that each tensor is copied as seldom as the mapping allows.

Residents start around single leaves; what windows are cut from starts around the launch with the
windows. Three rules are applied until nothing changes:

- *nested*: a resident inside of another one of the same key is that one;
- *adjacent*: two residents of the same key, with nothing between that would see a difference, are
  one around both and what is between them (a copy out and a copy in again are saved);
- *hoisted*: what a sequential loop holds in every trip, and does not depend on it, is held around
  the loop.

Where a tensor is only read through tiles, its residents are the tiles: a panel is never copied
whole. What is left becomes an allocation, a copy in unless the first use overwrites everything, and
a copy out if something was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    Fill,
    For,
    Map,
    Stmt,
    View,
    accesses,
    views_in,
)
from eas.septran.flat.substitution import change_views
from eas.septran.lowering.tree import (
    Do,
    Guard,
    Loop,
    Node,
    Placed,
    Resident,
    children,
    loop_variables,
    names_of,
    touches,
    use_of,
)
from eas.support.records import replace


def settle(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes with their residents as far outside as they can be."""
    return _merge(tuple(map(_settle_node, nodes)))


def _settle_node(node: Node) -> Node:
    match node:
        case Do():
            return node
        case Placed():
            return _side_by_side(_drop_nested(replace(node, body=settle(node.body))))
        case Guard():
            return replace(node, body=settle(node.body))
        case Loop():
            return _hoist(replace(node, body=settle(node.body)))


def _merge(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Adjacent residents of one key become one."""
    for first, node in enumerate(nodes):
        if not isinstance(node, Placed):
            continue
        for resident in node.residents:
            if resident.source is None:
                continue
            for last in range(len(nodes) - 1, first, -1):
                other = nodes[last]
                if _find(other, resident) is None:
                    continue
                if _conflicts(nodes[first : last + 1], resident):
                    continue
                merged = _wrap(resident, nodes[first : last + 1])
                return _merge((*nodes[:first], _settle_node(merged), *nodes[last + 1 :]))
    return nodes


def _find(node: Node, resident: Resident) -> Resident | None:
    """The resident of the same key that a node has, if it has one."""
    if not isinstance(node, Placed):
        return None
    return next((each for each in node.residents if each.key == resident.key), None)


def _wrap(resident: Resident, nodes: Sequence[Node]) -> Placed:
    """Nodes around which a resident is held; inside of them those of its key are gone."""
    return Placed((resident,), tuple(_use(node, resident) for node in nodes))


def _use(node: Node, resident: Resident) -> Node:
    """A node that uses a resident instead of one of the same key inside."""
    match node:
        case Do():
            return node
        case Placed():
            found = _find(node, resident)
            body = tuple(_use(each, resident) for each in node.body)
            if found is None:
                return replace(node, body=body)
            rest = tuple(each for each in node.residents if each is not found)
            renamed = tuple(_rename(each, found.buffer, resident.buffer) for each in body)
            return Placed(rest, renamed)
        case Loop() | Guard():
            return replace(node, body=tuple(_use(each, resident) for each in node.body))


def _rename(node: Node, old: str, new: str) -> Node:
    """A node that speaks of another buffer."""
    if old == new:
        return node
    match node:
        case Do():
            renamed = change_views(node.stmt, lambda view: _renamed_view(view, old, new))
            return replace(node, stmt=renamed)
        case Placed():
            residents = tuple(_renamed_resident(each, old, new) for each in node.residents)
            return Placed(residents, tuple(_rename(each, old, new) for each in node.body))
        case Loop() | Guard():
            return replace(node, body=tuple(_rename(each, old, new) for each in node.body))


def _renamed_view(view: View, old: str, new: str) -> View:
    return replace(view, buffer=new) if view.buffer == old else view


def _renamed_resident(resident: Resident, old: str, new: str) -> Resident:
    source = resident.source
    if source is None:
        return resident
    return replace(resident, source=_renamed_view(source, old, new))


def _drop_nested(node: Placed) -> Placed:
    for resident in node.residents:
        if resident.source is not None:
            node = replace(node, body=tuple(_use(each, resident) for each in node.body))
    return node


def _side_by_side(node: Placed) -> Placed:
    """Residents directly inside of others are beside them, unless they hold parts of them."""
    match node.body:
        case (Placed() as inner,):
            held = {each.buffer for each in node.residents}
            nested = [
                each for each in inner.residents if each.source and each.source.buffer in held
            ]
            free = [each for each in inner.residents if each not in nested]
            body = (Placed(tuple(nested), inner.body),) if nested else inner.body
            return Placed((*node.residents, *free), body) if free else node
        case _:
            return node


def _conflicts(nodes: Sequence[Node], resident: Resident) -> bool:
    """Whether nodes touch what a resident holds by another way, so that one would be stale."""
    source = resident.source
    assert source is not None
    written = any("w" in how for how in _uses(nodes, resident))
    for view, how in _other_touches(nodes, resident):
        if view.buffer == source.buffer and (written or "w" in how):
            return True
    return False


def _uses(nodes: Sequence[Node], resident: Resident) -> Iterator[str]:
    for node in nodes:
        found = _find(node, resident)
        if found is not None and isinstance(node, Placed):
            yield use_of(found.buffer, node.body)
        yield from _uses(children(node), resident)


def _other_touches(nodes: Sequence[Node], resident: Resident) -> Iterator[tuple[View, str]]:
    """What nodes touch, but for the sources of residents of one key."""
    for node in nodes:
        if isinstance(node, Do):
            yield from accesses(node.stmt)
            continue
        yield from _other_touches(children(node), resident)
        if isinstance(node, Placed):
            for each in node.residents:
                if each.source is not None and each.key != resident.key:
                    yield each.source, use_of(each.buffer, node.body)


def _hoist(loop: Loop) -> Node:
    """A sequential loop, inside of the residents that do not depend on it."""
    if not isinstance(loop.record, For):
        return loop
    for resident in _held(loop.body):
        source = resident.source
        if source is None or loop.record.variable in names_of(source):
            continue
        if names_of(source) & loop_variables(loop.body) or _is_local(source.buffer, loop.body):
            continue
        if _conflicts(loop.body, resident):
            continue
        inner = replace(loop, body=tuple(_use(each, resident) for each in loop.body))
        return _side_by_side(Placed((resident,), (_hoist(_tidy(inner)),)))
    return loop


def _held(nodes: Sequence[Node]) -> Iterator[Resident]:
    """Residents in nodes and under conditions, not those of inner loops."""
    for node in nodes:
        if isinstance(node, Placed):
            yield from node.residents
            yield from _held(node.body)
        elif isinstance(node, Guard):
            yield from _held(node.body)


def _is_local(buffer: str, nodes: Sequence[Node]) -> bool:
    """Whether a buffer begins to exist inside of some nodes."""
    return any(
        (isinstance(node, Placed) and any(each.buffer == buffer for each in node.residents))
        or _is_local(buffer, children(node))
        for node in nodes
    )


def _tidy(node: Loop) -> Loop:
    """A loop without placements of nothing."""
    return replace(node, body=tuple(_flat(node.body)))


def _flat(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        if isinstance(node, Placed) and not node.residents:
            yield from _flat(node.body)
        else:
            yield node


def is_overwritten(resident: Resident, nodes: Sequence[Node]) -> bool:
    """Whether the first use of what a resident holds writes all of it, whatever it was."""
    source = resident.source
    return source is not None and _is_overwritten(resident.buffer, source.shape, nodes)


def _is_overwritten(buffer: str, shape: tuple[Affine, ...], nodes: Sequence[Node]) -> bool:
    for node in nodes:
        match node:
            case Do():
                how = _first_use(buffer, shape, node.stmt)
                if how is not None:
                    return how
            case Placed():
                how = _is_overwritten_by(buffer, shape, node)
                if how is not None:
                    return how
            case Loop():
                if _is_touched(buffer, node.body):
                    extent = node.record.extent
                    runs = extent.is_constant and extent.value > 0
                    return runs and _is_overwritten(buffer, shape, node.body)
            case Guard():
                if _is_touched(buffer, node.body):
                    return False
    return False


def _is_overwritten_by(buffer: str, shape: tuple[Affine, ...], node: Placed) -> bool | None:
    """Whether nodes with residents overwrite all of a buffer; None if they do not use it.

    Residents are copied in before, and out after all that the nodes do with the buffer itself.
    """
    held = [each for each in node.residents if each.source and each.source.buffer == buffer]
    if not all(is_overwritten(each, node.body) for each in held):
        return False
    if _is_touched(buffer, node.body):
        return _is_overwritten(buffer, shape, node.body)
    return any(each.source and _is_whole(each.source, shape) for each in held) if held else None


def _is_whole(view: View, shape: tuple[Affine, ...]) -> bool:
    """Whether a view is all of a buffer that holds something of a shape."""
    return view.shape == shape and all(offset == ZERO for offset in view.offsets)


def _is_touched(buffer: str, nodes: Sequence[Node]) -> bool:
    return any(view.buffer == buffer for view, _ in touches(nodes))


def _first_use(buffer: str, shape: tuple[Affine, ...], stmt: Stmt) -> bool | None:
    """Whether a statement overwrites all of a buffer; None if it does not use it."""
    views = [(view, how) for view, how in accesses(stmt) if view.buffer == buffer]
    if not views:
        return None
    if not isinstance(stmt, Fill | Map | Copy) or len(views) > 1:
        return False
    view, how = views[0]
    reads = isinstance(stmt, Map) and any(v.buffer == buffer for v in views_in(stmt.value))
    return how == "w" and not reads and _is_whole(view, shape)


def written_out(nodes: Sequence[Node], allocations: list[Alloc]) -> list[Stmt]:
    """Flat statements: residents as copies, their buffers in `allocations`."""
    stmts: list[Stmt] = []
    for node in nodes:
        match node:
            case Do():
                stmts.append(node.stmt)
            case Loop() | Guard():
                body = tuple(written_out(node.body, allocations))
                stmts.append(replace(node.record, body=body))
            case Placed():
                stmts += _placed(node, allocations)
    return stmts


def _placed(node: Placed, allocations: list[Alloc]) -> list[Stmt]:
    before: list[Stmt] = []
    after: list[Stmt] = []
    for resident in node.residents:
        allocations.append(
            Alloc(
                resident.buffer,
                resident.dtype,
                resident.shape,
                resident.memory,
                pad=resident.pad,
                origin=resident.origin,
            )
        )
        if resident.source is None:
            continue
        how = use_of(resident.buffer, node.body)
        copy_in, copy_out = _copies(resident)
        if not is_overwritten(resident, node.body):
            before.append(copy_in)
        if "w" in how:
            after.insert(0, copy_out)
    return [*before, *written_out(node.body, allocations), *after]


def _copies(resident: Resident) -> tuple[Copy, Copy]:
    source = resident.source
    assert source is not None
    zeros = (affine(0),) * source.rank
    held = View(resident.buffer, resident.memory, zeros, tuple(source.shape))
    is_ragged = any(not extent.is_constant for extent in source.shape)
    whole = tuple(map(affine, resident.shape))
    target = View(resident.buffer, resident.memory, zeros, whole) if is_ragged else held
    origin = resident.origin
    out = replace(origin, because=f"{origin.because}, and it is written")
    return (
        Copy(target, source, 0.0 if is_ragged else None, origin),
        Copy(source, held, None, out),
    )
