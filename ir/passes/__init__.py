"""Passes: pure functions on the IR, each in its own file.

`optimize` is for every backend and keeps each fault that the interpreter reports. `relax` is for
the other backends: it may drop what only a fault could need. `with_bounds` makes a function whose
accesses to memory are checked by those as well, `guard_accesses` writes such checks out.
"""

from __future__ import annotations

from eas.ir.nodes import Function
from eas.ir.passes.bounds_params import with_bounds
from eas.ir.passes.cse import merge_common
from eas.ir.passes.dead import remove_dead
from eas.ir.passes.exits import lower_exits
from eas.ir.passes.fold import fold
from eas.ir.passes.guards import guard_accesses
from eas.ir.passes.hoist import hoist
from eas.ir.passes.relax import use_ranges
from eas.ir.passes.select import use_selects
from eas.ir.rewrite import renumber

__all__ = ["guard_accesses", "optimize", "relax", "with_bounds"]


def optimize(f: Function) -> Function:
    """The function without scopes, constants folded, equal values merged, dead ones removed."""
    f = fold(lower_exits(f))
    f = merge_common(hoist(fold(merge_common(f))))
    return renumber(remove_dead(f, keeps_faults=True))


def relax(f: Function) -> Function:
    """The function without what its ranges show to be needless, small branches as selections."""
    f = fold(use_selects(use_ranges(f)))
    return renumber(remove_dead(merge_common(f), keeps_faults=f.checked))
