"""Ways to choose the next point to try.

A proposer is a function of what was tried, with random numbers of its own for each trial. It has no
state: a search that is resumed proposes what an uninterrupted one would have proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, log
from typing import Any, Protocol

import numpy as np

from eas.septran.tuner.prediction import Tried
from eas.septran.tuner.space import Point, Space

Random = np.random.Generator

MOST_DRAWS = 400
_FIRST_SAMPLE = 192
_POOL = 48
_PARENTS = 6


class Predictor(Protocol):
    """What is known of points that were not tried."""

    def is_legal(self, point: Point) -> bool: ...

    def predict(self, points: Sequence[Point], history: Sequence[Tried]) -> Any: ...


Proposer = Callable[[Space, Sequence[Tried], Predictor, Random], Point | None]


def propose_random(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """Any legal point that was not tried."""
    return next(_fresh(space, history, model, random, 1), None)


def propose_in_order(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """The next legal point in order: all of them, in the end."""
    tried = {each.point for each in history}
    return next((p for p in space.points() if p not in tried and model.is_legal(p)), None)


def propose_by_evolution(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """The most promising of children of the best points, and of some others.

    Every eighth trial is for another point than the most promising, so that the model is corrected
    where it was not asked.
    """
    parents = _best(history, _PARENTS)
    pool = _unique([*_children(space, history, parents, model, random)])
    pool += [p for p in _fresh(space, history, model, random, _sample(history)) if p not in pool]
    if not pool:
        return None
    order = np.argsort(model.predict(pool, history), kind="stable")
    if len(history) % 8 == 7:
        order = order[: max(1, len(order) // 4)]
        return pool[int(order[int(random.integers(len(order)))])]
    return pool[int(order[0])]


def propose_by_annealing(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """A neighbor of a point that was tried: of a worse one, too, but ever more rarely."""
    best = _best(history, 24)
    if not best:
        return propose_by_evolution(space, history, model, random)
    temperature = 0.3 * 0.93 ** len(history)
    weights = np.array([exp(-(log(e.seconds / best[0].seconds)) / temperature) for e in best])
    start = best[int(random.choice(len(best), p=weights / weights.sum()))]
    near: list[Point] = []
    tried = {each.point for each in history}
    for _ in range(MOST_DRAWS):
        point = space.mutate(start.point, random)
        if point not in tried and point not in near and model.is_legal(point):
            near.append(point)
        if len(near) == 12:
            break
    if not near:
        return propose_random(space, history, model, random)
    return near[int(np.argmin(model.predict(near, history)))]


PROPOSERS: dict[str, Proposer] = {
    "evolution": propose_by_evolution,
    "annealing": propose_by_annealing,
    "random": propose_random,
    "grid": propose_in_order,
}


def _sample(history: Sequence[Tried]) -> int:
    """How many random points are looked at: many before anything is measured."""
    return _FIRST_SAMPLE if not history else _POOL


def _best(history: Sequence[Tried], count: int) -> list[Tried]:
    measured = [each for each in history if np.isfinite(each.seconds)]
    return sorted(measured, key=lambda each: each.seconds)[:count]


def _children(
    space: Space,
    history: Sequence[Tried],
    parents: Sequence[Tried],
    model: Predictor,
    random: Random,
) -> Iterator[Point]:
    if not parents:
        return
    tried = {each.point for each in history}
    for number in range(_POOL):
        parent = parents[number % len(parents)].point
        if random.random() < 0.3:
            other = parents[int(random.integers(len(parents)))].point
            parent = space.cross(parent, other, random)
        child = space.mutate(parent, random)
        if child not in tried and model.is_legal(child):
            yield child


def _fresh(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random, count: int
) -> Iterator[Point]:
    """Some legal points that were not tried: drawn, or all there are if these are few."""
    seen = {each.point for each in history}
    found = 0
    small = space.size <= 4 * count
    points = space.points() if small else (space.draw(random) for _ in range(MOST_DRAWS * count))
    for point in points:
        if point not in seen and model.is_legal(point):
            seen.add(point)
            found += 1
            yield point
        if found == count and not small:
            return
    if found == 0 and not small:
        left = (each for each in space.points() if each not in seen)
        yield from (each for each in left if model.is_legal(each))


def _unique(points: Sequence[Point]) -> list[Point]:
    return list(dict.fromkeys(points))
