"""Software pipelining: slots for the copies of pipelined loops.

An instance with `pipeline: n` has its copies in each trip of a loop started n - 1 trips ahead, into
buffers with n slots; with n = 2 that is double buffering. Only copies whose source the loop does
not write can run ahead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from eas.septran.files import Machine
from eas.septran.files.complaints import Complaints
from eas.septran.flat.affine import Affine, Min, affine
from eas.septran.flat.nodes import For
from eas.septran.lowering.residency import is_overwritten
from eas.septran.lowering.tree import (
    Loop,
    Node,
    Placed,
    Resident,
    children,
    touches,
    use_of,
)
from eas.support.diagnostics import Label
from eas.support.location import NOWHERE
from eas.support.records import frozen, replace


@frozen
class Slots:
    """How many slots a buffer has, and the loop variable that chooses among them."""

    count: int
    variable: str

    @property
    def index(self) -> Affine:
        """The slot of a trip."""
        return affine(self.variable) % self.count


def assign_slots(
    nodes: Sequence[Node], machine: Machine, complaints: Complaints
) -> tuple[tuple[Node, ...], dict[str, Slots]]:
    """Nodes whose pipelined loops say so, and the slots of the buffers that they fill (S502).

    Copies into global memory do not run ahead: there is nothing to be gained.
    """
    slow = {name for name, memory in machine.mems.items() if memory.kind == "global"}
    found: dict[str, Slots] = {}
    asked: dict[str, Loop] = {}
    done: set[str] = set()
    changed = tuple(_assign(node, found, asked, done, slow) for node in nodes)
    for reason, loop in asked.items():
        if reason not in done:
            message = (
                "the pipeline has nothing to run ahead: its loops copy nothing that they could"
            )
            secondary = [] if loop.record.origin.python is None else [
                Label(loop.record.origin.python, "a loop of the instance")
            ]  # fmt: skip
            complaints.add(
                "S502",
                message,
                loop.stages_origin.yaml or NOWHERE,
                secondary=secondary,
                help=["set `pipeline: 1`, or place what the loop reads in a faster memory"],
            )
    return changed, found


def _assign(
    node: Node,
    found: dict[str, Slots],
    asked: dict[str, Loop],
    done: set[str],
    slow: Collection[str],
) -> Node:
    if not children(node):
        return node
    body = tuple(_assign(each, found, asked, done, slow) for each in children(node))
    node = replace(node, body=body)
    if not isinstance(node, Loop) or node.stages == 1 or not isinstance(node.record, For):
        return node
    if _most_trips(node.record.extent) == 1:
        return node  # one trip has none to run ahead of, whatever the mapping says
    reason = node.stages_origin.because
    if not node.is_offered:
        asked.setdefault(reason, node)
    ahead = [
        each
        for each in _copied_in(node.body)
        if each.memory not in slow and _can_run_ahead(each, node)
    ]
    if not ahead:
        return node
    done.add(reason)
    for resident in ahead:
        found[resident.buffer] = Slots(node.stages, node.record.variable)
    asked_by = replace(node.stages_origin, python=node.record.origin.python)
    return replace(node, record=replace(node.record, pipelined=node.stages, origin=asked_by))


def _most_trips(extent: Affine) -> int | None:
    """The trips of a loop, at most; None if that is not seen."""
    if extent.is_constant:
        return extent.value
    match extent.terms:
        case [(Min(operands), 1)] if extent.constant == 0:
            return min((each.value for each in operands if each.is_constant), default=None)
        case _:
            return None


def _copied_in(nodes: Sequence[Node]) -> list[Resident]:
    """The residents that each trip fills, and only reads."""
    found: list[Resident] = []
    for node in nodes:
        if isinstance(node, Placed):
            for resident in node.residents:
                is_read = use_of(resident.buffer, node.body) == "r"
                is_filled = not is_overwritten(resident, node.body)
                if resident.source is not None and is_read and is_filled:
                    found.append(resident)
            found += _copied_in(node.body)
    return found


def _can_run_ahead(resident: Resident, loop: Loop) -> bool:
    source = resident.source
    assert source is not None
    inner = {each.buffer for each in _all_residents(loop.body)}
    written = any(v.buffer == source.buffer and "w" in how for v, how in touches(loop.body))
    return source.buffer not in inner and not written


def _all_residents(nodes: Sequence[Node]) -> list[Resident]:
    found: list[Resident] = []
    for node in nodes:
        if isinstance(node, Placed):
            found += node.residents
        found += _all_residents(children(node))
    return found
