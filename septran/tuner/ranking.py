"""Candidates in the order of their estimated times, with the reasons; nothing is measured.

For a machine that is not here, such as a GPU of Apple silicon, this is what can be said: which of
the legal mappings should be fast, and what each spends its time on.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eas.septran.explain import Room
from eas.septran.files import Machine, SeptranError
from eas.septran.tuner.cost import Estimate, estimate, resident
from eas.septran.tuner.problem import Candidates
from eas.septran.tuner.space import Chosen, Point
from eas.septran.tuner.work import Work, work_of
from eas.support.records import frozen

if TYPE_CHECKING:
    from rich.table import Table

SAMPLE = 240  # points that are drawn
ROUNDS, PARENTS, CHILDREN = 4, 8, 40  # of the search among their neighbors


@frozen
class Ranked:
    """A candidate that passes all checks, its estimate, and figures that explain it."""

    values: Mapping[str, Chosen]
    estimate: Estimate
    programs: int
    occupancy: int | None  # programs of a GPU's core at once
    barriers: int
    held: Mapping[str, int]  # bytes of one program by memory
    touched: Mapping[str, int]  # bytes of all programs by memory

    def is_like(self, other: Ranked) -> bool:
        """Whether the estimates and the memory of two candidates are equal."""
        return self.estimate == other.estimate and self.held == other.held


@frozen
class Ranking:
    """The candidates that should be fastest, best first, of so many that were estimated."""

    title: str
    machine: Machine
    estimated: int
    refused: int
    best: Sequence[Ranked]


def rank(candidates: Candidates, wanted: int, seed: int = 0) -> Ranking:
    """The best candidates by estimate: of points that are drawn, and of their neighbors.

    What a check of the target's text refuses is left out, and of candidates that are alike by all
    figures only one is listed.
    """
    looked = _Looked(candidates)
    random = np.random.default_rng(seed)
    space = candidates.space
    looked.at([*space.starts(), *(space.draw(random) for _ in range(SAMPLE))])
    for _ in range(ROUNDS):
        parents = [point for point, _ in looked.in_order()[:PARENTS]]
        if not parents:
            break
        looked.at([space.mutate(parents[n % len(parents)], random) for n in range(CHILDREN)])
    best: list[Ranked] = []
    for point, _ in looked.in_order():
        if len(best) == wanted:
            break
        ranked = _ranked(candidates, point)
        if ranked is not None and not any(ranked.is_like(each) for each in best):
            best.append(ranked)
    best.sort(key=lambda each: each.estimate.seconds)
    machine = candidates.base.machine
    return Ranking(candidates.title, machine, len(looked.seconds), looked.refused, best)


class _Looked:
    """The estimates of points; of their texts nothing is known yet."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self.seconds: dict[Point, float] = {}
        self._seen: set[Point] = set()

    @property
    def refused(self) -> int:
        return len(self._seen) - len(self.seconds)

    def at(self, points: Sequence[Point]) -> None:
        candidates = self._candidates
        for point in points:
            if point in self._seen:
                continue
            self._seen.add(point)
            values = candidates.space.values(point)
            try:
                module = candidates.operator(values).flat(*candidates.arrays)
            except SeptranError as error:
                candidates.refuse(values, error)
                continue
            candidates.check_work(module)
            self.seconds[point] = estimate(work_of(module, {}), candidates.base.machine).seconds

    def in_order(self) -> list[tuple[Point, float]]:
        return sorted(self.seconds.items(), key=lambda pair: pair[1])


def _ranked(candidates: Candidates, point: Point) -> Ranked | None:
    values = candidates.space.values(point)
    try:
        operator = candidates.operator(values)
        operator.check(*candidates.arrays)
        explanation = operator.explain(*candidates.arrays)
    except SeptranError as error:
        candidates.refuse(values, error)
        return None
    machine = candidates.base.machine
    works = work_of(explanation.module, {})
    held = dict(_held(explanation.rooms, machine))
    touched: Counter[str] = Counter()
    for work in works:
        touched.update(work.touched)
    return Ranked(
        values,
        estimate(works, machine),
        sum(work.programs for work in works),
        _occupancy(works, machine, held),
        sum(work.counts.get("barriers", 0) for work in works),
        held,
        touched,
    )


def _occupancy(works: Sequence[Work], machine: Machine, held: Mapping[str, int]) -> int | None:
    """How many programs a core of a GPU has at once, with the memory that the text adds."""
    if machine.procs[machine.grid].threads == 1:
        return None
    capacities = {name: memory.capacity for name, memory in machine.mems.items()}
    fitting = [(capacities[name] or 0) // bytes_ for name, bytes_ in held.items() if bytes_]
    return max(1, min([*fitting, *(resident(work, machine) for work in works)]))


def _held(rooms: Sequence[Room], machine: Machine) -> Iterator[tuple[str, int]]:
    """The bytes of a program by memory: of the mapping's arrays, and of those the text adds."""
    for name, memory in machine.mems.items():
        if memory.kind == "global":
            continue
        kernels: dict[str, int] = {}
        for room in rooms:
            if room.memory == name:
                kernels[room.kernel] = kernels.get(room.kernel, 0) + room.bytes
        yield name, max(kernels.values(), default=0)


def print_ranking(ranking: Ranking) -> list[str]:
    """The ranking in words and as a table, with the values of each candidate below it."""
    from eas.support.command_line import lay_out, lay_out_plainly

    name = ranking.machine.name
    lines = [
        ranking.title,
        f"nothing was measured: {ranking.estimated} candidates were estimated by the figures of "
        f"the machine file of `{name}`, {ranking.refused} were refused",
    ]
    if not ranking.best:
        return lines
    table = _table(ranking)
    lines.append(lay_out(table) if sys.stdout.isatty() else lay_out_plainly(table))
    for place, each in enumerate(ranking.best, 1):
        values = ", ".join(f"{key}={value}" for key, value in each.values.items())
        lines += [f"{place}. {values}", f"   {each.estimate.reasons}"]
    return lines


def _table(ranking: Ranking) -> Table:
    from rich.table import Table

    memories = list(ranking.best[0].held)
    moved = sorted({name for each in ranking.best for name in each.touched})
    gpu = ranking.best[0].occupancy is not None
    table = Table(box=None, pad_edge=False)
    titles = ["", "estimated µs", "programs", *(["at once per core"] if gpu else []), "barriers"]
    titles += [f"{each} held, B" for each in memories] + [f"{each} touched, MB" for each in moved]
    for title in titles:
        table.add_column(title, justify="right")
    for place, each in enumerate(ranking.best, 1):
        cells = [f"{place}.", f"{each.estimate.seconds * 1e6:.1f}", f"{each.programs:,}"]
        cells += [str(each.occupancy)] if gpu else []
        cells.append(f"{each.barriers:,}")
        cells += [f"{each.held[name]:,}" for name in memories]
        cells += [f"{each.touched.get(name, 0) / 1e6:.2f}" for name in moved]
        table.add_row(*cells)
    return table
