"""How long a candidate should take, by the figures of its machine file.

A program moves bytes through each memory that it touches, computes, packs factors of products,
waits at barriers, and issues statements. What is read again from a memory with a cache comes from
the cache. What overlaps is not added: of computing and of each memory, the slowest counts in full,
and a part of the rest. Programs run on the cores in waves, of which the last may not be full. On a
GPU few programs fit at once if each takes much scratch memory, and then memory is waited for.

Figures that a machine file does not have are those of an ordinary CPU: estimates rank candidates,
and are corrected by what is measured (`residual`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from eas.ir.types import DTYPES
from eas.septran.files import Machine
from eas.septran.tuner.work import Work
from eas.support.records import frozen

_FLOPS = 2.0e10
_BANDWIDTH = 2.0e10
_LAUNCH = 5.0e-6
_BARRIER = 1.0e-8
_STATEMENT = 5.0e-8  # to issue one
_STATEMENTS = ("copies", "mmas", "maps", "reductions", "fills", "calls")
_ELEMENT_FLOPS = 4  # of an element-wise statement
_OVERLAP = 0.3  # the part of what is not slowest that is seen
_HIDING = 4  # programs at once that hide the latency of memory on a GPU


@frozen
class Estimate:
    """Seconds, and what they are made of: the names are those of `TERMS`."""

    seconds: float
    terms: Mapping[str, float]

    @property
    def reasons(self) -> str:
        """What takes the time, the largest first."""
        parts = sorted(self.terms.items(), key=lambda pair: -pair[1])
        shown = [f"{name} {seconds * 1e6:.1f} µs" for name, seconds in parts if seconds > 0]
        return ", ".join(shown[:4])


TERMS: tuple[str, ...] = (
    "computing",
    "global",
    "scratch",
    "registers",
    "packing",
    "statements",
    "barriers",
    "launches",
)


def estimate(works: Sequence[Work], machine: Machine) -> Estimate:
    """The seconds that kernels should take on a machine, one after the other."""
    terms: dict[str, float] = dict.fromkeys(TERMS, 0.0)
    seconds = 0.0
    for work in works:
        part = _terms(work, machine)
        seconds += _combined(part)
        for name, value in part.items():
            terms[name] += value
    return Estimate(seconds, terms)


def _combined(terms: Mapping[str, float]) -> float:
    overlapping = [terms[name] for name in ("computing", "global", "scratch", "registers")]
    slowest = max(overlapping)
    rest = sum(overlapping) - slowest
    added = sum(terms[name] for name in ("packing", "statements", "barriers", "launches"))
    return slowest + _OVERLAP * rest + added


def _terms(work: Work, machine: Machine) -> dict[str, float]:
    cost, counts = machine.cost, work.counts
    share = waves(work, machine) / min(cost.cores, work.programs)  # that the busiest core has
    statements = sum(counts.get(name, 0) for name in _STATEMENTS)
    terms: dict[str, float] = dict.fromkeys(TERMS, 0.0)
    terms["computing"] = _computing(work, machine) * share
    terms["packing"] = _packing(work, machine) * share
    terms["statements"] = statements * share * _STATEMENT
    terms["barriers"] = counts.get("barriers", 0) * share * (cost.barrier or _BARRIER)
    terms["launches"] = cost.launch or _LAUNCH
    for name, bytes_ in work.touched.items():
        memory = machine.mems.get(name)
        if memory is None:
            continue
        bandwidth = memory.bandwidth or _BANDWIDTH
        if memory.kind != "global":
            terms[memory.kind] += bytes_ * share / bandwidth
            continue
        again = max(0, bytes_ - work.arrays) if memory.cached else 0
        terms["global"] += (bytes_ - again) / bandwidth * _waiting(work, machine)
        terms["global"] += again * share / memory.cached if memory.cached else 0.0
    return terms


def _computing(work: Work, machine: Machine) -> float:
    """Seconds of one core; products take as long as their primitives say."""
    cost = machine.cost
    figures = dict[str, float](cost.flops.items())
    flops = figures.get(work.dtype) or figures.get("f32") or _FLOPS
    per_core = flops if _is_per_core(machine) else flops / cost.cores
    known = {
        name: found[1].flops
        for name in {each.primitive for each in work.products}
        if (found := machine.primitive(name)) is not None and found[1].flops
    }
    slow = max((per_core / each for each in known.values() if each), default=1.0)
    elements = _ELEMENT_FLOPS * work.counts.get("elements", 0)
    return (work.counts.get("flops", 0) * max(slow, 1.0) + elements) / per_core


def _packing(work: Work, machine: Machine) -> float:
    """Seconds in which products copy their factors before they multiply."""
    seconds = 0.0
    for each in work.products:
        found = machine.primitive(each.primitive)
        rows, columns, depth = each.extents
        if found is None or not found[1].packs or prod(each.extents) <= found[1].unpacked:
            continue
        elements = depth * (rows + columns) * each.times * work.programs
        seconds += elements * DTYPES[work.dtype].numpy.itemsize / found[1].packs
    return seconds


def waves(work: Work, machine: Machine) -> float:
    """How much longer programs take than if all cores were busy to the end."""
    cores = machine.cost.cores
    return ceil(work.programs / cores) * cores / work.programs if work.programs > cores else 1.0


def _is_per_core(machine: Machine) -> bool:
    """Figures of CPUs and accelerators are those of a core, those of GPUs of the whole device."""
    return not _is_gpu(machine)


def _is_gpu(machine: Machine) -> bool:
    return machine.procs[machine.grid].threads > 1


def _waiting(work: Work, machine: Machine) -> float:
    """How much longer global memory takes where few programs fit on a core at once."""
    if not _is_gpu(machine):
        return 1.0
    return max(1.0, _HIDING / max(1, resident(work, machine)))


def resident(work: Work, machine: Machine) -> int:
    """How many programs of a kernel fit on one core of a GPU at once: its occupancy."""
    fitting = [
        memory.capacity // scratch
        for name, memory in machine.mems.items()
        if memory.kind != "global" and memory.capacity and (scratch := work.allocated.get(name, 0))
    ]
    return max(1, min([*fitting, 8]))
