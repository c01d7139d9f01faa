"""The passes of Metal, from a function that every backend has to the one that is laid out.

The first two lists run once. The third one runs for each budget that is tried: how products of
matrices are tiled depends on it, and so does which control flow lanes have for themselves.
"""

from __future__ import annotations

from eas.ir.lowering.dot_operands import shape_dot_operands
from eas.ir.lowering.lane_continues import without_lane_continues
from eas.ir.lowering.lockstep import in_lockstep
from eas.ir.nodes import Function
from eas.ir.ops.simdgroup import SIMD
from eas.ir.passes import COMMON, GUARD, relaxing
from eas.ir.pipeline import Pass, Pipeline, without_options
from eas.ir.stages import GUARDED_RELAXED, with_ops
from eas.msl.analysis.facts import gather
from eas.msl.layout.layout import Budget, Layout
from eas.msl.layout.ownership import classify_control
from eas.msl.ops.all_reduce import ALL_REDUCE
from eas.msl.ops.mma import MMA
from eas.msl.rewrites.all_reduce import all_reduce_rows
from eas.msl.rewrites.dot_to_mma import dot_to_mma
from eas.msl.rewrites.lockstep_regions import find_lockstep_regions
from eas.msl.rewrites.reduction_fusion import fuse_reductions
from eas.support.records import field, frozen, record


@record
class _Control:
    """A layout that only classifies control flow, and the function that it is of."""

    function: Function | None = None
    layout: Layout | None = None


@frozen
class MetalOptions:
    """How many threads a program has, if that is given, and what memory may be spent.

    `last` is the analysis that was made last: it holds as long as passes change nothing.
    """

    threads: int | None = None
    budget: Budget = Budget()
    last: _Control = field(default_factory=_Control, compare=False)

    @property
    def has_whole_simdgroups(self) -> bool:
        return (self.threads or SIMD) % SIMD == 0

    def control(self, function: Function) -> Layout:
        """The layout of a function, of which only the classes of control flow are decided."""
        last = self.last
        if last.layout is None or last.function is not function:
            last.function = function
            last.layout = classify_control(gather(function), self.threads, self.budget)
        return last.layout


def _shape_dot_operands(function: Function, options: MetalOptions) -> Function:
    return shape_dot_operands(function) if options.has_whole_simdgroups else function


def _all_reduce(function: Function, options: MetalOptions) -> Function:
    return all_reduce_rows(function) if options.has_whole_simdgroups else function


def _dot_to_mma(function: Function, options: MetalOptions) -> Function:
    whole = options.has_whole_simdgroups
    return dot_to_mma(function, options.budget) if whole else function


def _remove_lane_continues(function: Function, options: MetalOptions) -> Function:
    """To a fixed point: a loop that got another body may be shared now, or no more."""
    while True:
        simpler = without_lane_continues(function, options.control(function).uniform_control)
        if simpler is function:
            return function
        function = simpler


def _run_in_lockstep(function: Function, options: MetalOptions) -> Function:
    """To a fixed point: control flow around what is in lockstep is shared by all threads."""
    while True:
        simpler = in_lockstep(function, find_lockstep_regions(options.control(function)))
        if simpler is function:
            return function
        function = _remove_lane_continues(simpler, options)


WITH_ALL_REDUCES = with_ops(GUARDED_RELAXED, "metal", *ALL_REDUCE.values())
WITH_MMA = with_ops(WITH_ALL_REDUCES, "metal with mma", *MMA)

RELAX_METAL = Pipeline("metal", (GUARD, *relaxing(GUARDED_RELAXED)), COMMON)

PREPARE = Pipeline(
    "metal",
    (
        Pass(
            "reduction-fusion",
            without_options(fuse_reductions),
            "Before all-reduce: it compares reductions by their shapes, as the user wrote them.",
        ),
        Pass(
            "dot-operands",
            _shape_dot_operands,
            "Before dot-to-mma: a product that starts from its sum keeps the sum in fragments.",
        ),
        Pass(
            "all-reduce",
            _all_reduce,
            "Before anything is laid out: it decides which lanes have the results of reductions.",
            WITH_ALL_REDUCES,
        ),
    ),
    RELAX_METAL,
)

METAL = Pipeline(
    "metal",
    (
        Pass(
            "dot-to-mma",
            _dot_to_mma,
            "Before control flow is divided among lanes: it makes ops that all threads take part "
            "in.",
            WITH_MMA,
        ),
        Pass(
            "lane-continues",
            _remove_lane_continues,
            "Loops that all threads share are known now; in lockstep there is no `Continue`.",
        ),
        Pass(
            "lockstep",
            _run_in_lockstep,
            "Last: what still diverges is control flow of single lanes, and stays so.",
        ),
    ),
    PREPARE,
)
