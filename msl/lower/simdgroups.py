"""Ops of simdgroups: each is a statement of its own.

All lanes must execute it, so such a value never moves into a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from eas.ir.nodes import Compute
from eas.ir.ops.simdgroup import MMA, SIMD
from eas.ir.types import F32, I32, DType
from eas.msl.cxx.spelling import converted
from eas.msl.cxx.tree import Node, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.reductions import as_unsigned, carried_dtype
from eas.msl.lower.user_reductions import shuffled
from eas.msl.ops.dtypes import greatest, least
from eas.msl.ops.text import Level, Text, call, infix


def lower_simd_op(op: Compute, low: Lowering) -> Node:
    """Declares the result of an op of a simdgroup."""
    if op.op is MMA:
        return _multiplied(op, low)
    nodes = [low.at(value) for value in op.operands]
    hint = op.result.hint or op.op.simd_reduction or op.op.name.removeprefix("simd_")
    variable = Variable(hint, op.result.ty.dtype)
    low.declare(variable, _spelled(op, nodes, low), op.loc)
    return low.read(variable)


def _multiplied(op: Compute, low: Lowering) -> Node:
    """One of a lane's two elements of a product, which is computed once."""
    key = ("mma", op.operands)
    known = low.find(key)
    if known is None:
        low.helpers.need("mma", F32)
        nodes = [low.at(value) for value in op.operands]
        variable = Variable(op.result.hint or "product", F32, kind="float2")
        low.declare(variable, low.node(F32, _product, nodes, scope=low.block), op.loc)
        known = low.block.nodes[key] = low.read(variable)
    word = op.attr("word")
    return low.node(F32, lambda texts: Text(f"{texts[0].text}.{'xy'[bool(word)]}"), [known])


def _product(texts: Sequence[Text]) -> Text:
    pairs = [call("float2", *texts[start : start + 2]) for start in (0, 2, 4)]
    return call("mma", *pairs)


def _spelled(op: Compute, nodes: Sequence[Node], low: Lowering) -> Node:
    if op.op.simd_reduction:
        return _reduced(op, nodes[0], low)
    if not _exists(op, low) or not _takes_lane(op, low):
        return _shuffled_if_valid(op, nodes, low)
    lane = low.node(I32, lambda texts: call("ushort", texts[0]), nodes[1:], scope=low.block)
    return shuffled(op.op.name, nodes[0], lane, low)


def _takes_lane(op: Compute, low: Lowering) -> bool:
    """Whether Metal's function accepts the lane: only `simd_shuffle` takes a varying one."""
    if op.op.name == "simd_shuffle":
        return True
    maker = low.facts.definition(op.operands[1])
    if not isinstance(maker, Compute) or maker.op.name != "broadcast":
        return False
    return not maker.operands[0].shape


def _exists(op: Compute, low: Lowering) -> bool:
    """Whether each thread reads from a lane that exists in its simdgroup."""
    least_lane, most = low.numbers.bounds(op, 1)
    last = low.threads % SIMD or SIMD  # the number of lanes of the last simdgroup
    if op.op.name == "simd_shuffle_xor":
        last &= -last  # lanes differ in lower bits only: they stay in a group of this size
    return least_lane >= 0 and most < last


def _shuffled_if_valid(op: Compute, nodes: Sequence[Node], low: Lowering) -> Node:
    """Reading from a lane that does not exist is not specified by Metal."""
    low.helpers.need("valid_lane", I32)
    is_across = op.op.name == "simd_shuffle_xor"

    def spell(texts: Sequence[Text]) -> Text:
        wanted, thread, threads = texts
        if is_across:
            own = infix("%", thread, Text(str(SIMD)), Level.PRODUCT)
            wanted = infix("^", own, wanted, Level.BIT_XOR)
        return call("valid_lane", wanted, thread, threads)

    asked = [nodes[1], low.thread(), low.literal(low.threads, I32)]
    lane = low.node(I32, spell, asked, scope=low.block)
    return shuffled("simd_shuffle", nodes[0], lane, low)


def _reduced(op: Compute, node: Node, low: Lowering) -> Node:
    """A reduction of a simdgroup, in a dtype that Metal supports."""
    source, target = op.operands[0].ty.dtype, op.result.ty.dtype
    name = op.op.simd_reduction
    carried = carried_dtype(name, source)
    is_float_extreme = name in ("max", "min") and carried.is_float

    def spell(texts: Sequence[Text]) -> Text:
        own = texts[0] if source == carried else converted(texts[0], source, carried)
        if is_float_extreme:  # what Metal does with NaN is not specified
            own = call(f"f{name}", own, least(carried) if name == "max" else greatest(carried))
        found = function(own, *texts[1:])
        return found if carried == target else converted(found, carried, target)

    function, more = _function(op.op.name, carried, op.operands[0].shape[0], low)
    return low.node(target, spell, [node, *more], scope=low.block)


def _function(
    name: str, dtype: DType, threads: int, low: Lowering
) -> tuple[Callable[..., Text], list[Node]]:
    """The function that reduces, and its further arguments."""
    if dtype.bits == 64 and threads % SIMD:
        helper = low.helpers.need(f"{name}_64_ragged", dtype)
        return partial(call, helper), [low.thread(), low.literal(threads, I32)]
    if dtype.bits == 64:
        return partial(call, low.helpers.need(f"{name}_64", dtype)), []
    wraps = name == "simd_sum" and dtype == I32
    return partial(as_unsigned if wraps else call, name), []
