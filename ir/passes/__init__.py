"""Passes: pure functions on the IR, each in its own file, and the lists that they stand in.

`COMMON` is for every backend and keeps each fault that the interpreter reports. `relaxing` is for
the other backends: it may drop what only a fault could need. `with_bounds` makes a function whose
accesses to memory are checked by those as well, `GUARD` writes such checks out.
"""

from __future__ import annotations

from eas.ir.nodes import Function
from eas.ir.passes.bounds_params import with_bounds
from eas.ir.passes.cse import merge_common
from eas.ir.passes.dead import remove_dead
from eas.ir.passes.exits import lower_exits
from eas.ir.passes.fold import fold
from eas.ir.passes.guards import guard_accesses, guard_selections
from eas.ir.passes.hoist import hoist
from eas.ir.passes.relax import use_ranges
from eas.ir.passes.select import use_selects
from eas.ir.pipeline import Pass, Pipeline, run, without_options
from eas.ir.rewrite import renumber
from eas.ir.stages import CORE, GUARDED, GUARDED_RELAXED, Stage

__all__ = ["COMMON", "GUARD", "RELAX", "optimize", "relax", "relaxing", "with_bounds"]


def _remove_unused(f: Function) -> Function:
    return remove_dead(f, keeps_faults=True)


def _remove_unneeded(f: Function) -> Function:
    return remove_dead(f, keeps_faults=f.checked)


COMMON = Pipeline(
    "common",
    (
        Pass(
            "exits",
            without_options(lower_exits),
            "First: every other pass knows only the exits `Break` and `Continue`.",
            CORE,
        ),
        Pass(
            "fold",
            without_options(fold),
            "Branches on constants disappear before anything is moved or compared.",
        ),
        Pass(
            "cse",
            without_options(merge_common),
            "Folded operands make more ops equal.",
        ),
        Pass(
            "fold-merged",
            without_options(fold),
            "Operands that were merged into one value fold: `a - a`, `a == a`.",
        ),
        Pass(
            "hoist",
            without_options(hoist),
            "After folding: what has become a constant need not be moved out of its loop.",
        ),
        Pass(
            "cse-hoisted",
            without_options(merge_common),
            "Ops that were hoisted out of different loops may be equal.",
        ),
        Pass(
            "dead",
            without_options(_remove_unused),
            "The passes above leave ops behind that nobody uses any more.",
        ),
        Pass(
            "renumber",
            without_options(renumber),
            "Last: numbers in the order of the text make equal functions equal as text.",
        ),
    ),
)

GUARD = Pass(
    "guard-accesses",
    without_options(guard_accesses),
    "Before ranges are known, which drop the checks that always hold.",
    GUARDED,
)


def relaxing(stage: Stage) -> tuple[Pass[object], ...]:
    """The passes for backends that need not report every fault, to a stage without assumptions."""
    return (
        Pass(
            "relax-ranges",
            without_options(use_ranges),
            "Before branches are weighed: masks and sign fix-ups that always hold are gone.",
            stage,
        ),
        Pass(
            "relax-select",
            without_options(use_selects),
            "Branches that are small by now become selections.",
        ),
        Pass(
            "relax-fold",
            without_options(fold),
            "Masks that were found to be true fold away, and selections of equal values.",
        ),
        Pass(
            "relax-cse",
            without_options(merge_common),
            "Ops of both branches stand in one region now and can be merged.",
        ),
        Pass(
            "relax-dead",
            without_options(_remove_unneeded),
            "Here ops that could fault may go as well, unless the function is checked.",
        ),
        Pass(
            "relax-renumber",
            without_options(renumber),
            "Last: the key of cached code is made from the text.",
        ),
    )


_GUARD_SELECTIONS = Pass(
    "guard-selections",
    without_options(guard_selections),
    "Before ranges are known, which drop the checks that always hold.",
    GUARDED,
)

RELAX = Pipeline("cpu", (_GUARD_SELECTIONS, *relaxing(GUARDED_RELAXED)), COMMON)


def optimize(f: Function) -> Function:
    """The function without scopes, constants folded, equal values merged, dead ones removed."""
    return run(COMMON, f, None)


def relax(f: Function) -> Function:
    """The function without what its ranges show to be needless, small branches as selections."""
    return run(RELAX, f, None)
