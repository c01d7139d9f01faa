"""Asserts and prints: lanes report to the host through a buffer of 32-bit words.

| word | what it holds |
|---|---|
| 0 | the number of the site of the first assert that failed, plus 1; 0 if none did |
| 1 to 4 | that program's index along x, y and z, and the lane |
| 5 | how many words there are for records of prints: set by the host, like zeros everywhere else |
| 6 | how many words the records would take |
| 7 | how many records found no room |
| from 8 on | records: the site's number, the program's index along x, y and z, the lane, values |

A value takes a word: an integer of up to 32 bits as such (sign-extended), a float as f32. One of 64
bits takes two, the lower half first. The order of records is that of the lanes' arrival; those of
one lane are in the order of the text. What a site says, and where it stands, is told by
`MslKernel.sites`.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Assert, Print, Value
from eas.ir.types import BOOL, I32, U32, DType, count
from eas.msl.indices import linear
from eas.msl.lowering import Lowering
from eas.msl.sites import Site
from eas.msl.spelling import negated
from eas.msl.text import Level, Text, call, infix
from eas.msl.tree import Node, Variable

RECORD_HEAD = 5


def words_of(dtype: DType) -> int:
    """How many words a value takes in a record."""
    return 2 if dtype.bits == 64 else 1


def check(op: Assert, low: Lowering) -> None:
    """Reports a lane for which the condition does not hold."""
    site = _site(Site("assert", (op.message,), op.loc), "report_failure", low)
    failed = low.node(BOOL, lambda t: negated(t[0]), [low.at(op.condition)])
    lane = _lane((op.condition,), low)

    def line(texts: Sequence[Text]) -> Text:
        return call("report_failure", "report", str(site), low.names["program"], texts[0])

    with low.branch(failed, op.loc):
        low.act(line, [lane], loc=op.loc)


def show(op: Print, low: Lowering) -> None:
    """Appends a record with the values to the report."""
    values = [part for part in op.parts if isinstance(part, Value)]
    parts = tuple(part if isinstance(part, str) else part.ty.dtype for part in op.parts)
    site = _site(Site("print", parts, op.loc), "report_record", low)
    nodes = [low.at(value) for value in values]
    size = RECORD_HEAD + sum(words_of(value.ty.dtype) for value in values)

    def begin(texts: Sequence[Text]) -> Text:
        return call("report_record", "report", str(size), str(site), low.names["program"], texts[0])

    begun = low.node(U32, begin, [_lane(values, low)], home=low.block)
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
    """The number of the lane that reports: that of its element in the largest block."""
    blocks = [value for value in values if value.shape]
    if not blocks:
        return low.literal(0, I32)
    largest = max(blocks, key=lambda value: count(value.shape))
    return low.index(linear(low.domain.indices_of(largest.shape), largest.shape))
