"""What is done once for several lanes where lanes part: it must not happen again for the next ones.

All lanes of the domain then stay side by side. Kernels in Python have no such effects: what stands
below a condition of lanes there is each lane's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import Atomic, For, If, Op, Print, Store, While, regions_of
from eas.ir.types import Shape
from eas.ir.types import count as product
from eas.runtime.cpu.errors import refuse
from eas.runtime.cpu.facts import Facts
from eas.runtime.cpu.reports import printed_shape

_MOST_TOGETHER = 64  # vectors
_LEAST_WIDTH = 4  # of a vector, on any machine


def stays_together(op: Op, shape: Shape, facts: Facts) -> bool:
    """Whether all lanes of a domain have to take an op side by side."""
    if not isinstance(op, If | For | While) or not facts.is_split(op):
        return False
    vectors = product(shape[:-1]) * -(-shape[-1] // _LEAST_WIDTH)
    for effect in _effects(op, shape, False):
        if vectors <= _MOST_TOGETHER:
            return True
        message = f"something is done once for all lanes here, where {list(shape)} part"
        raise refuse(message, effect.loc)
    return False


def _effects(op: Op, shape: Shape, is_repeated: bool) -> Iterator[Atomic | Print | Store]:
    """The effects that are not each lane's own; of a store, the last one in a loop stays."""
    match op:
        case Atomic() if op.offset.shape != shape:
            yield op
        case Print() if printed_shape(op) != shape:
            yield op
        case Store() if is_repeated and op.offset.shape != shape:
            yield op
        case _:
            is_repeated = is_repeated or isinstance(op, For | While)
            for region in regions_of(op):
                for inner in region.ops:
                    yield from _effects(inner, shape, is_repeated)
