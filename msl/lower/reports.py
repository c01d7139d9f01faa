"""Asserts and prints: lanes write to the report buffer of `eas.support.report_buffer`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.aliasing.lane_indices import linear
from eas.ir.nodes import Assert, Print, Value, operands_of
from eas.ir.report_sites import site_of
from eas.ir.types import BOOL, I32, U32, count
from eas.msl.cxx.spelling import negated
from eas.msl.cxx.tree import Node, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.text import Level, Text, call, infix
from eas.support.report_buffer import RECORD_HEAD, Site, words_of


def check(op: Assert, low: Lowering) -> None:
    """Reports the lanes for which the condition does not hold."""
    found, name = site_of(op), "report_failure" if op.fault is None else "report_fault"
    assert found is not None
    site = _site(found, name, low)
    failed = low.node(BOOL, lambda t: negated(t[0]), [low.at(op.condition)])
    parts = [_lane((op.condition,), low), *(low.at(value) for value in operands_of(op)[1:])]

    def line(texts: Sequence[Text]) -> Text:
        extent = ["0"] if len(texts) == 2 else []  # an offset has none
        return call(name, "report", str(site), low.names["program"], *texts, *extent)

    with low.branch(failed, op.loc):
        low.act(line, parts, loc=op.loc)


def show(op: Print, low: Lowering) -> None:
    """Appends a record with the values to the report."""
    values = [part for part in op.parts if isinstance(part, Value)]
    parts = tuple(part if isinstance(part, str) else part.ty.dtype for part in op.parts)
    site = _site(Site("print", parts, op.loc), "report_record", low)
    nodes = [low.at(value) for value in values]
    size = RECORD_HEAD + sum(words_of(value.ty.dtype) for value in values)

    def begin(texts: Sequence[Text]) -> Text:
        return call("report_record", "report", str(size), str(site), low.names["program"], texts[0])

    begun = low.node(U32, begin, [_lane(values, low)], scope=low.block)
    if not values:
        low.act(lambda t: t[0], [begun], loc=op.loc)
        return
    place = Variable("record", U32)
    low.declare(place, begun, op.loc)
    has_room = low.infix("!=", low.read(place), low.literal(0, I32), Level.EQUALITY, BOOL)
    with low.branch(has_room, op.loc):
        offset = 0
        for node in nodes:
            _put(node, place, offset, op, low)
            offset += words_of(node.dtype)


def _put(node: Node, place: Variable, offset: int, op: Print, low: Lowering) -> None:
    low.helpers.need("report_value", node.dtype)

    def line(texts: Sequence[Text]) -> Text:
        at = infix("+", texts[0], Text(str(offset)), Level.SUM) if offset else texts[0]
        return call("report_value", "report", at, texts[1])

    low.act(line, [low.read(place), node], loc=op.loc)


def _site(site: Site, helper: str, low: Lowering) -> int:
    low.builtins |= {"program", "report"}
    low.helpers.need(helper, U32)
    if site not in low.sites:
        low.sites.append(site)
    return low.sites.index(site)


def _lane(values: Sequence[Value], low: Lowering) -> Node:
    """The number of the reporting lane: the index of its element in the largest block."""
    blocks = [value for value in values if value.shape]
    if not blocks:
        return low.literal(0, I32)
    largest = max(blocks, key=lambda value: count(value.shape))
    return low.index(linear(low.domain.indices_of(largest.shape), largest.shape))
