"""A layout and a schedule as text, for people: which thread holds what, and what threads do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eas.ir.nodes import Op, Value, results_of
from eas.ir.text import summarize
from eas.msl.layout.layout import Layout
from eas.msl.schedule.items import (
    Assign,
    FinishScan,
    GatherPartials,
    Item,
    LaneOp,
    OperandItem,
    SerialReduction,
    Stage,
)
from eas.msl.schedule.mma_steps import Mma, StoreTile
from eas.msl.schedule.steps import (
    BroadcastResult,
    CombineLanes,
    CombinePartials,
    Elements,
    Plan,
    ReduceChunks,
    ReducePartials,
    RegionEnd,
    ScanPartials,
    ScanRows,
    SingleThread,
    Step,
    StorePartials,
    Sync,
    Uniform,
    UniformControl,
)

_INDENT = "  "


def print_layout(layout: Layout) -> str:
    """Where each block is: with its owners, in threadgroup memory, or nowhere before it is used."""
    lines = [f"{layout.threads} threads per program"]
    for op in layout.facts.ops:
        for value in results_of(op):
            if value.shape or value in layout.strategies:
                lines.append(f"{_INDENT}{_shown(value)}: {value.ty}  {_place(value, layout)}")
    return "\n".join(lines) + "\n"


def _place(value: Value, layout: Layout) -> str:
    if value in layout.strategies:
        return layout.strategies[value].value
    if value in layout.replicated:
        return "in threadgroup memory, from a larger domain"
    if value in layout.staged:
        return "with its owners, and staged in threadgroup memory"
    if value in layout.materialized:
        return "with its owners"
    return "not materialized: computed where it is used"


def print_schedule(plan: Plan) -> str:
    """The steps in their order, with the barriers between them."""
    lines = [f"threadgroup {_shown(each.result)}[{each.size}]" for each in plan.allocations]
    lines += _print_steps(plan.steps, "")
    return "\n".join(lines) + "\n"


def _print_steps(steps: Sequence[Step], indent: str) -> Iterator[str]:
    for step in steps:
        match step:
            case Elements():
                yield f"{indent}each lane of {step.extent}:"
                for item in step.items:
                    yield f"{indent}{_INDENT}{_print_item(item)}"
            case UniformControl():
                yield f"{indent}all threads: {_head(step.op)}"
                for number, plan in enumerate(step.plans):
                    yield f"{indent}{_INDENT}region {number}:"
                    yield from _print_steps(plan, indent + 2 * _INDENT)
            case Sync():
                yield f"{indent}barrier for {' and '.join(_memories(step))} memory"
            case _:
                yield f"{indent}{_print_leaf(step)}"


def _memories(step: Sync) -> list[str]:
    named = (("device", step.device), ("threadgroup", step.threadgroup))
    return [name for name, is_ordered in named if is_ordered]


def _print_item(item: Item) -> str:
    match item:
        case Assign():
            pairs = (f"{_shown(target)} = {_shown(value)}" for target, value in item.pairs)
            return f"assign {', '.join(pairs)}"
        case Stage():
            return f"stage {_shown(item.value)} in threadgroup memory"
        case GatherPartials():
            return f"reduce the partials of {_results(item.op)}"
        case FinishScan():
            return f"add the carry to {_results(item.op)}"
        case StoreTile():
            return f"store a tile: {summarize(item.op)}"
        case LaneOp() | SerialReduction() | OperandItem():
            return _head(item.op)
        case _:
            raise TypeError(f"{item} has no line")


def _print_leaf(step: Step) -> str:
    match step:
        case Uniform() | Mma():
            return f"all threads: {_head(step.op)}"
        case SingleThread():
            return f"one thread: {_head(step.op)}"
        case BroadcastResult():
            return f"all threads: receive {_results(step.op)}"
        case StorePartials():
            return f"each simdgroup: store the partials of {_all_results(step.ops)}{_stage(step)}"
        case ReducePartials():
            return f"all threads: reduce the partials of {_all_results(step.ops)}{_stage(step)}"
        case ReduceChunks():
            return f"all threads: reduce {_results(step.op)}, a chunk at a time"
        case CombineLanes() | CombinePartials() | ScanPartials() | ScanRows():
            words = {
                CombineLanes: "each simdgroup: combine the lanes of",
                CombinePartials: "all threads: combine the partials of",
                ScanPartials: "one simdgroup: scan the partials of",
                ScanRows: "each owner of a row: scan",
            }
            return f"{words[type(step)]} {_results(step.op)}"
        case RegionEnd():
            return f"all threads: {_head(step.op)}"
        case _:
            raise TypeError(f"{step} has no line of its own")


def _stage(step: StorePartials | ReducePartials) -> str:
    return ", double buffered" if step.stage else ""


def _head(op: Op) -> str:
    """The first line of an op's text."""
    return summarize(op).splitlines()[0]


def _results(op: Op) -> str:
    return ", ".join(map(_shown, results_of(op)))


def _all_results(ops: Iterable[Op]) -> str:
    return ", ".join(map(_results, ops))


def _shown(value: Value) -> str:
    return f"%{value.hint}.{value.id}" if value.hint else f"%{value.id}"
