"""Numbers that the error of an estimate may depend on: the same ones for all operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

from eas.septran.files import Machine
from eas.septran.tuner.cost import TERMS, Estimate, waves
from eas.septran.tuner.work import Action, Work

_KINDS = ("global", "scratch", "registers")
_FAST = ("scratch", "registers")
_ELEMENT_WISE = ("map", "reduce", "fill")


def features(works: Sequence[Work], machine: Machine, found: Estimate) -> dict[str, float]:
    """Features by name, of kernels whose time was estimated."""
    largest = max(works, key=lambda work: work.programs * sum(a.times for a in work.actions))
    pairs = [
        *_shares(found),
        *_programs(largest, machine),
        *_memories(works, machine),
        *_products(largest, machine),
        *_others(largest, machine),
    ]
    return dict(pairs)


Features = Iterator[tuple[str, float]]


def _log(number: float) -> float:
    return log2(1.0 + number)


def _shares(found: Estimate) -> Features:
    """What the estimate is made of."""
    for name in TERMS:
        yield f"share of {name}", log2(1e-3 + found.terms[name] / found.seconds)


def _programs(work: Work, machine: Machine) -> Features:
    cores = machine.cost.cores
    yield "programs", log2(work.programs)
    yield "programs for each core", _log(work.programs / cores)
    yield "idle cores", max(0.0, log2(cores / work.programs))
    yield "last wave", waves(work, machine) - 1.0
    yield "stages", float(work.slots)
    yield "statements", _log(sum(work.counts.values()) - _work(work))


def _work(work: Work) -> int:
    return work.counts.get("flops", 0) + work.counts.get("elements", 0)


def _memories(works: Sequence[Work], machine: Machine) -> Features:
    for kind in _KINDS:
        names = [name for name, memory in machine.mems.items() if memory.kind == kind]
        touched = sum(work.touched.get(name, 0) for work in works for name in names)
        yield f"touched {kind}", _log(touched)
        if kind == "global":
            continue
        taken = sum(work.allocated.get(name, 0) for work in works for name in names)
        capacity = sum(machine.mems[name].capacity or 0 for name in names)
        yield f"allocated {kind}", _log(taken)
        yield f"filled {kind}", taken / max(capacity, 1)
    for source in _KINDS:
        for target in _KINDS:
            yield f"moved {source} {target}", _log(_moved(works, machine, source, target))


def _moved(works: Sequence[Work], machine: Machine, source: str, target: str) -> int:
    total = 0
    for work in works:
        for arrow, bytes_ in work.moved.items():
            kinds = [_kind(machine, name) for name in arrow.split("->")]
            total += bytes_ if kinds == [source, target] else 0
    return total


def _kind(machine: Machine, name: str) -> str:
    return machine.mems[name].kind if name in machine.mems else "global"


def _products(work: Work, machine: Machine) -> Features:
    """Extents and memories of products, by the operations in each."""
    weighted = [(each, float(_operations(each))) for each in work.products]
    for position, name in enumerate(("rows", "columns", "depth")):
        extent = _mean([(log2(a.extents[position] or 1), weight) for a, weight in weighted])
        yield f"{name} of a product", extent
        yield f"{name} of a product, squared", extent * extent
    for position, name in enumerate(("sum", "left", "right")):
        for kind in _FAST:
            is_there = [(_kind(machine, a.memories[position]) == kind, w) for a, w in weighted]
            yield f"{name} in {kind}", _mean(is_there)
    operations = sum(weight for _, weight in weighted)
    yield "size of a product", _log(operations / max(1, sum(a.times for a, _ in weighted)))
    yield "transposed products", _mean([(" " in str(a.detail), weight) for a, weight in weighted])
    real = work.counts.get("flops", 0)
    yield "padding", log2(2.0 * operations * work.programs / real) if real and weighted else 0.0


def _others(work: Work, machine: Machine) -> Features:
    """Extents and memories of element-wise statements and copies, by their elements."""
    for title, kinds in (("element-wise", _ELEMENT_WISE), ("copy", ("copy",))):
        chosen = [(a, float(_operations(a))) for a in work.actions if a.kind in kinds]
        yield f"rows, {title}", _mean([(log2(a.extents[0] or 1), w) for a, w in chosen])
        yield f"columns, {title}", _mean([(log2(a.extents[1] or 1), w) for a, w in chosen])
        for kind in _FAST:
            is_there = [(_kind(machine, a.memories[0]) == kind, w) for a, w in chosen]
            yield f"{title} in {kind}", _mean(is_there)


def _operations(action: Action) -> int:
    total = action.times
    for extent in action.extents:
        total *= extent
    return total


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    total = sum(weight for _, weight in weighted)
    return sum(value * weight for value, weight in weighted) / total if total else 0.0
