"""How long a candidate should take, by the figures of its machine file.

A program moves bytes through each memory that it touches, computes, waits at barriers, and issues
statements. What overlaps is not added: of computing and of each memory, the slowest counts in full,
and a part of the rest. Programs run on the cores in waves, of which the last may not be full. On a
GPU few programs fit at once if each takes much scratch memory, and then memory is waited for.

Figures that a machine file does not have are those of an ordinary CPU: estimates rank candidates,
and are corrected by what is measured (`residual`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log

from eas.septran.files import Machine
from eas.septran.flat.counts import Row, count
from eas.septran.flat.nodes import Alloc, Kernel, Module, bytes_of, walk
from eas.support.records import frozen

_FLOPS = 2.0e10
_BANDWIDTH = 2.0e10
_LAUNCH = 5.0e-6
_BARRIER = 1.0e-8
_STATEMENT = 5.0e-8  # to issue one
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
    "statements",
    "barriers",
    "launches",
)


def estimate(module: Module, machine: Machine, sizes: Mapping[str, int]) -> Estimate:
    """The seconds that a module should take on a machine."""
    terms: dict[str, float] = dict.fromkeys(TERMS, 0.0)
    seconds = 0.0
    kernels = {kernel.name: kernel for kernel in module.kernels}
    for row in count(module, sizes):
        if not row.loop:
            part = _kernel_terms(row, kernels[row.kernel], machine)
            seconds += _combined(part)
            for name, value in part.items():
                terms[name] += value
    return Estimate(seconds, terms)


def _combined(terms: Mapping[str, float]) -> float:
    overlapping = [terms[name] for name in ("computing", "global", "scratch", "registers")]
    slowest = max(overlapping)
    rest = sum(overlapping) - slowest
    added = terms["statements"] + terms["barriers"] + terms["launches"]
    return slowest + _OVERLAP * rest + added


def _kernel_terms(row: Row, kernel: Kernel, machine: Machine) -> dict[str, float]:
    cost, total = machine.cost, row.total
    programs = max(row.runs, 1)
    busy = min(cost.cores, programs)
    waves = ceil(programs / cost.cores) * cost.cores / programs if programs > busy else 1.0
    share = waves / busy  # of the work, that the busiest core does
    figures = dict[str, float](cost.flops.items())
    dtype = kernel.params[0].dtype.name if kernel.params else machine.default_dtype
    flops = figures.get(dtype) or figures.get("f32") or _FLOPS
    per_core = flops if _is_per_core(machine) else flops / cost.cores
    work = total.flops + _ELEMENT_FLOPS * total.elements
    statements = (
        total.copies + total.mmas + total.maps + total.reductions + total.fills + total.calls
    )
    terms: dict[str, float] = dict.fromkeys(TERMS, 0.0)
    terms["computing"] = work * share / per_core
    terms["statements"] = statements * share * _STATEMENT
    terms["barriers"] = total.barriers * share * (cost.barrier or _BARRIER)
    terms["launches"] = cost.launch or _LAUNCH
    waiting = _waiting(kernel, machine)
    for name, bytes_ in total.touched.items():
        memory = machine.mems.get(name)
        if memory is None:
            continue
        bandwidth = memory.bandwidth or _BANDWIDTH
        if memory.kind == "global":
            terms["global"] += bytes_ / bandwidth * waiting
        else:
            terms[memory.kind] += bytes_ * share / bandwidth
    return terms


def _is_per_core(machine: Machine) -> bool:
    """Figures of CPUs and accelerators are those of a core, those of GPUs of the whole device."""
    return not _is_gpu(machine)


def _is_gpu(machine: Machine) -> bool:
    return machine.procs[machine.grid].threads > 1


def _waiting(kernel: Kernel, machine: Machine) -> float:
    """How much longer global memory takes where few programs fit on a core at once."""
    if not _is_gpu(machine):
        return 1.0
    return max(1.0, _HIDING / max(1, resident(kernel, machine)))


def resident(kernel: Kernel, machine: Machine) -> int:
    """How many programs of a kernel fit on one core of a GPU at once: its occupancy."""
    fitting = [
        memory.capacity // scratch
        for name, memory in machine.mems.items()
        if memory.kind != "global" and memory.capacity and (scratch := allocated(kernel, name)) > 0
    ]
    return max(1, min([*fitting, 8]))


def allocated(kernel: Kernel, memory: str) -> int:
    """The bytes that a program allocates in a memory."""
    total = 0
    for stmt in walk(kernel.body):
        if isinstance(stmt, Alloc) and stmt.memory == memory:
            *outer, inner = stmt.shape or (1,)
            elements = inner + stmt.pad
            for extent in outer:
                elements *= extent
            total += elements * stmt.slots * bytes_of(stmt.dtype)
    return total


def features(module: Module, machine: Machine, sizes: Mapping[str, int]) -> list[float]:
    """Numbers that a correction of the estimate may depend on; the same for every operator."""
    found = estimate(module, machine, sizes)
    kernel = module.kernels[0]
    programs = max((row.runs for row in count(module, sizes) if not row.loop), default=1)
    used: list[float] = []
    for kind in ("scratch", "registers"):
        names = [name for name, memory in machine.mems.items() if memory.kind == kind]
        bytes_ = sum(allocated(each, name) for each in module.kernels for name in names)
        capacity = sum(machine.mems[name].capacity or 0 for name in names) or 1
        used += [log(1.0 + bytes_), bytes_ / capacity]
    shares = [log(1e-9 + found.terms[name] / found.seconds) for name in TERMS]
    slots = max((s.slots for s in walk(kernel.body) if isinstance(s, Alloc)), default=1)
    inner = [s.shape[-1] for s in walk(kernel.body) if isinstance(s, Alloc) and s.shape]
    outer = [s.shape[0] for s in walk(kernel.body) if isinstance(s, Alloc) and s.shape]
    extents = [log(max(inner, default=1)), log(min(inner, default=1)), log(max(outer, default=1))]
    idle = ceil(programs / machine.cost.cores) * machine.cost.cores / programs
    numbers = [*shares, *used, *extents, log(programs), idle, float(slots)]
    return [*numbers, *(each * each for each in numbers)]
