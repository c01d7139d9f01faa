"""What the threads of a simdgroup do together: each has a statement of its own.

All threads must take part, so such a value never moves into a condition.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Compute
from eas.ir.types import F32, I32
from eas.msl.combining import shuffled
from eas.msl.lowering import Lowering
from eas.msl.text import Text, call
from eas.msl.tree import Node, Variable


def meet(op: Compute, low: Lowering) -> Node:
    """Declares the value that comes of a meeting of lanes."""
    if op.op.name == "mma_word":
        return _multiplied(op, low)
    nodes = [low.at(value) for value in op.operands]
    variable = Variable(op.result.hint or op.op.name.removeprefix("simd_"), op.result.ty.dtype)
    low.declare(variable, _spelled(op, nodes, low), op.loc)
    return low.read(variable)


def _multiplied(op: Compute, low: Lowering) -> Node:
    """One of a lane's two elements; both come of one product."""
    key = ("mma", op.operands)
    known = low.find(key)
    if known is None:
        low.helpers.need("mma", F32)
        nodes = [low.at(value) for value in op.operands]
        variable = Variable(op.result.hint or "product", F32, kind="float2")
        low.declare(variable, low.node(F32, _product, nodes, home=low.block), op.loc)
        known = low.block.nodes[key] = low.read(variable)
    word = op.attr("word")
    return low.node(F32, lambda texts: Text(f"{texts[0].text}.{'xy'[bool(word)]}"), [known])


def _product(texts: Sequence[Text]) -> Text:
    pairs = [call("float2", *texts[start : start + 2]) for start in (0, 2, 4)]
    return call("mma", *pairs)


def _spelled(op: Compute, nodes: Sequence[Node], low: Lowering) -> Node:
    name = op.op.name
    if len(nodes) == 2:
        lane = low.node(I32, lambda texts: call("ushort", texts[0]), nodes[1:], home=low.block)
        return shuffled(name, nodes[0], lane, low)

    def spell(texts: Sequence[Text]) -> Text:
        if name == "simd_sum" and op.result.ty.dtype == I32:  # unsigned sums wrap
            return call("as_type<int>", call(name, call("as_type<uint>", texts[0])))
        return call(name, texts[0])

    return low.node(op.result.ty.dtype, spell, nodes, home=low.block)
