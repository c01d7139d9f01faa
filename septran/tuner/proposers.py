"""Ways to choose the next point to try.

A proposer is a function of what was tried, with random numbers of its own for each trial. It has no
state: a search that is resumed proposes what an uninterrupted one would have proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice
from math import exp, log
from typing import Any, Protocol

import numpy as np

from eas.septran.tuner.prediction import Tried
from eas.septran.tuner.space import Point, Space

Random = np.random.Generator

MOST_DRAWS = 400
_FIRST_TRIALS = 4
_FIRST_SAMPLE = 160
_SAMPLE = 32  # for each of the first trials
_GROWING = 18  # trials, after which no more are drawn: looking at a point takes milliseconds
_CHILDREN = 16
_FEWEST = 40  # points that are looked at, even where most that are drawn are refused
_MOST_LISTED = 5000  # points that are looked at one by one if none was legal so far
_MOST_REFUSED = 20_000  # points in a row, after which no legal one is looked for
_FEW = 512  # points, of which all are looked at
_PARENTS = 4


class Predictor(Protocol):
    """What is known of points that were not tried."""

    def is_legal(self, point: Point) -> bool: ...

    def predict(self, points: Sequence[Point], history: Sequence[Tried]) -> Any: ...

    def gains(self, points: Sequence[Point], history: Sequence[Tried]) -> Any: ...


Proposer = Callable[[Space, Sequence[Tried], Predictor, Random], Point | None]


def propose_random(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """Any legal point that was not tried."""
    tried = {each.point for each in history}
    for _ in range(MOST_DRAWS):
        point = space.draw(random)
        if point not in tried and model.is_legal(point):
            return point
    left = list(islice(_legal(space, tried, model), _FEW))
    return left[int(random.integers(len(left)))] if left else None


def propose_in_order(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """The next legal point in order: all of them, in the end."""
    tried = {each.point for each in history}
    return next(_legal(space, tried, model), None)


def propose_by_evolution(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """The most promising of children and neighbors of the best points, and of some others.

    The first point is the one with the best prediction. Some more differ from what was tried as
    much as possible, so that the model learns from them.
    """
    pool = _pool(space, history, model, random)
    if not pool:
        return None
    measured = sum(np.isfinite(each.seconds) for each in history)
    if history and measured < _FIRST_TRIALS:
        return _farthest(space, history, _hopeful(pool, history, model), random)
    return pool[int(np.argmax(model.gains(pool, history)))]


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


def _pool(space: Space, history: Sequence[Tried], model: Predictor, random: Random) -> list[Point]:
    """The points that are looked at: more with every trial, and all if there are few.

    Which ones, depends on what was tried alone. Facts of points that were looked at before are
    there already.
    """
    parents = _best(history, _PARENTS)
    tried = {each.point for each in history}
    near = [n for each in parents for n in space.neighbors(each.point)]
    near = [each for each in near if each not in tried and model.is_legal(each)]
    children = [*_children(space, history, parents, model, random)]
    draws = np.random.default_rng(history[0].point) if history else random
    count = _FIRST_SAMPLE + _SAMPLE * min(len(history), _GROWING)
    return _unique([*near, *children, *_sampled(space, history, model, draws, count)])


def _hopeful(pool: list[Point], history: Sequence[Tried], model: Predictor) -> list[Point]:
    """Every other time the best quarter by its prediction, else all."""
    if len(history) % 2 == 0:
        return pool
    order = np.argsort(model.predict(pool, ()), kind="stable")
    return [pool[int(number)] for number in order[: max(16, len(pool) // 4)]]


def _farthest(space: Space, history: Sequence[Tried], pool: list[Point], random: Random) -> Point:
    """Of half of some points, the one that is most unlike all that were tried."""
    chosen = [pool[int(n)] for n in random.permutation(len(pool))[: max(8, len(pool) // 2)]]
    here = space.places(chosen)
    there = space.places([each.point for each in history])
    apart = ((here[:, None, :] - there[None, :, :]) ** 2).sum(2).min(1)
    return chosen[int(np.argmax(apart))]


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
    for number in range(_CHILDREN):
        parent = parents[number % len(parents)].point
        if random.random() < 0.3:
            other = parents[int(random.integers(len(parents)))].point
            parent = space.cross(parent, other, random)
        child = space.mutate(parent, random)
        if child not in tried and model.is_legal(child):
            yield child


def _sampled(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random, count: int
) -> list[Point]:
    """Some legal points that were not tried, where few of those that are drawn may be legal.

    If hardly any is, refused points take options of a legal one until they are legal, too.
    """
    if space.listed is not None or space.size <= max(_FEW, count):
        return list(_fresh(space, history, model, random, count))
    tried = {each.point for each in history}
    known = [each.point for each in history] or [p for p in space.starts() if model.is_legal(p)]
    drawn = [space.draw(random) for _ in range(count)]
    found = [p for p in _unique([*known, *drawn]) if p not in tried and model.is_legal(p)]
    for point in drawn if known else ():
        if len(found) >= _FEWEST:
            break
        way = space.approach(point, known[0], np.random.default_rng(point))
        repaired = next((p for p in way if model.is_legal(p)), known[0])
        if repaired not in tried and repaired not in found:
            found.append(repaired)
    return found or list(_fresh(space, history, model, random, 1))


def _fresh(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random, count: int
) -> Iterator[Point]:
    """Some legal points that were not tried: drawn, or all there are if these are few."""
    seen = {each.point for each in history}
    found = 0
    small = space.size <= max(_FEW, count)
    points = space.points() if small else (space.draw(random) for _ in range(MOST_DRAWS * count))
    for point in points:
        if point not in seen and model.is_legal(point):
            seen.add(point)
            found += 1
            yield point
        if found == count and not small:
            return
    if found == 0 and not small and (history or space.size <= _MOST_LISTED):
        yield from islice(_legal(space, seen, model), _FEW)


def _legal(space: Space, tried: Set[Point], model: Predictor) -> Iterator[Point]:
    """Legal points that were not tried, in order; none after a great many that are refused."""
    refused = 0
    for point in space.points():
        if point not in tried:
            is_legal = model.is_legal(point)
            refused = 0 if is_legal else refused + 1
            if is_legal:
                yield point
        if refused == _MOST_REFUSED:
            return


def _unique(points: Sequence[Point]) -> list[Point]:
    return list(dict.fromkeys(points))
