"""The passes of the CPU, from a relaxed function to the one that LLVM text is written from."""

from __future__ import annotations

from eas.ir.analysis import divergences
from eas.ir.lowering.dot_operands import shape_dot_operands
from eas.ir.lowering.induction import simplify_induction
from eas.ir.lowering.lane_continues import without_lane_continues
from eas.ir.lowering.row_loops import loop_over_rows
from eas.ir.lowering.uniform_loops import make_loops_uniform
from eas.ir.nodes import Function
from eas.ir.passes import RELAX
from eas.ir.pipeline import Pass, Pipeline, without_options
from eas.llvm.lockstep_regions import with_lockstep_regions


def _without_lane_continues(function: Function) -> Function:
    """No lane is a trip ahead of others in a loop that all of them run in lockstep."""
    uniform = {
        key for key, each in divergences(function).items() if each.carried and not each.inside
    }
    return without_lane_continues(function, uniform)


CPU = Pipeline(
    "cpu",
    (
        Pass(
            "lockstep",
            without_options(with_lockstep_regions),
            "First: loops that it runs in lockstep are uniform for all passes below.",
        ),
        Pass(
            "lane-continues",
            without_options(_without_lane_continues),
            "Uniform loops are known now; induction leaves loops with a `Continue` alone.",
        ),
        Pass(
            "row-loops",
            without_options(loop_over_rows),
            "It takes functions without loops only, and makes one: the next passes see it.",
        ),
        Pass(
            "uniform-loops",
            without_options(make_loops_uniform),
            "Before induction, which takes uniform loops only.",
        ),
        Pass(
            "induction",
            without_options(simplify_induction),
            "All loops have their final form: what moves in them by a scalar is known.",
        ),
        Pass(
            "dot-operands",
            without_options(shape_dot_operands),
            "Last: induction looks for plain sums, which a product may take into itself.",
        ),
    ),
    RELAX,
)
