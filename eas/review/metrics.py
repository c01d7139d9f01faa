"""The costs as rows of a table: how a number is written, and when it counts as more expensive."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from eas.review.metal.kernel_costs import Costs, Region, Term, What, barriers_per_loop, terms_of
from eas.support.records import frozen

Direction = Literal["more", "less", "same", "other"]

_COUNTER = re.compile(r"for \(\w+ (\w+)")
_SAME = 1e-9
_SLIGHT = 0.05


@frozen(eq=False)
class Metric:
    """`write` spells it; `amounts` are compared, a larger one is more expensive, if `is_cost`."""

    key: str
    label: str
    help: str
    write: Callable[[Costs], str]
    amounts: Callable[[Costs], Sequence[float]]
    is_cost: bool = True


@frozen
class Row:
    """A metric of two versions; `growth` is the relative increase, infinite from zero on."""

    key: str
    old: str
    new: str
    direction: Direction
    growth: float = 0.0

    @property
    def is_slight(self) -> bool:
        """Whether a reader need not stop at it: less than a twentieth."""
        return 0 < abs(self.growth) < _SLIGHT

    @property
    def percent(self) -> str:
        """`+50 %`, or nothing where no number says it."""
        if not self.growth or math.isinf(self.growth):
            return ""
        return f"{self.growth * 100:+.3g} %".replace("-", "\u2212")


def compare(old: Costs | None, new: Costs | None) -> list[Row]:
    """A row for each metric that one of them has."""
    return [_row(metric, old, new) for metric in METRICS if _has(metric, old) or _has(metric, new)]


def _has(metric: Metric, costs: Costs | None) -> bool:
    return costs is not None and any(metric.amounts(costs))


def _row(metric: Metric, old: Costs | None, new: Costs | None) -> Row:
    before, after = ("" if costs is None else metric.write(costs) for costs in (old, new))
    if old is None or new is None:
        return Row(metric.key, before, after, "other")
    pairs = list(zip(metric.amounts(old), metric.amounts(new), strict=True))
    growth = max((_growth(*pair) for pair in pairs), key=_order, default=0.0)
    if not metric.is_cost:
        return Row(metric.key, before, after, "same" if before == after else "other")
    direction: Direction = "more" if growth > 0 else "less" if growth < 0 else "same"
    if direction == "same" and before != after:
        direction = "other"
    return Row(metric.key, before, after, direction, growth)


def _growth(old: float, new: float) -> float:
    if abs(new - old) <= _SAME * max(abs(old), abs(new)):
        return 0.0
    return (new - old) / old if old else math.inf


def _order(growth: float) -> float:
    """The increases first; else the largest decrease, so that zero does not hide it."""
    return growth if growth > 0 else -growth / 1e9


def spell(number: float) -> str:
    """Up to three digits behind the point: 1024, 0.375, 2.5."""
    return f"{round(number, 3):g}" if abs(number) < 1e5 else f"{number:.4g}"


def loop_labels(costs: Costs) -> dict[int, str]:
    """The names of loops by their lines: the counter or the head; the second of a name is `k#2`."""
    labels: dict[int, str] = {}
    seen: Counter[tuple[str, bool]] = Counter()
    for loop in sorted(costs.root.walk(), key=lambda each: each.line):
        if loop.line in labels or not loop.line:
            continue
        name = _loop_name(loop)
        seen[name, loop.is_known] += 1
        count = seen[name, loop.is_known]
        labels[loop.line] = name if count == 1 else f"{name}#{count}"
    return labels


def _loop_name(loop: Region) -> str:
    counter = _COUNTER.match(loop.head)
    if counter:
        return counter[1]
    return loop.head if len(loop.head) <= 24 else f"{loop.head[:23]}…"


def _sum(costs: Costs, what: What, by: float, write: Callable[[Term, float], str]) -> str:
    labels = loop_labels(costs)
    parts: list[str] = []
    for term in terms_of(costs, what):
        text = write(term, by)
        if term.loop is not None:
            whole = f"({text})" if " + " in text else text
            text = f"{whole} / {labels[term.loop.line]}"
        parts.append(text)
    return " + ".join(parts) or "0"


def _number(term: Term, by: float) -> str:
    return spell(term.total / by)


def _accesses(term: Term, by: float) -> str:
    widths = sorted(term.by_width.items(), reverse=True)
    return " + ".join(f"{spell(count / by)} × {width} B" for width, count in widths)


def _per_element(what: What) -> Callable[[Costs], str]:
    return lambda costs: _sum(costs, what, costs.elements, _number)


def _accesses_per_element(what: What) -> Callable[[Costs], str]:
    return lambda costs: _sum(costs, what, costs.elements, _accesses)


def _amount(what: What, per: Callable[[Costs], float]) -> Callable[[Costs], Sequence[float]]:
    def amounts(costs: Costs) -> Sequence[float]:
        every = [n for (kind, _), n in costs.root.assumed().items() if kind == what]
        return [sum(every) / per(costs)]

    return amounts


def _moved(what: What) -> Callable[[Costs], Sequence[float]]:
    """The number of accesses and their bytes: narrower ones for the same bytes cost more."""

    def amounts(costs: Costs) -> Sequence[float]:
        items = [(w, n) for (kind, w), n in costs.root.assumed().items() if kind == what]
        count, size = sum(n for _, n in items), sum(w * n for w, n in items)
        return [count / costs.elements, size / costs.elements]

    return amounts


def _barriers(costs: Costs) -> str:
    """In all, and per trip of each loop that has some."""
    whole = _sum(costs, "barrier", costs.threads, _number)
    labels = loop_labels(costs)
    loops = [
        f"{spell(count)} per trip of {labels[loop.line]}"
        for loop, count in barriers_per_loop(costs)
        if loop.is_known
    ]
    return f"{whole} ({', '.join(loops)})" if loops else whole


def _elements(costs: Costs) -> float:
    return costs.elements


def _threads(costs: Costs) -> float:
    return costs.threads


def _one(costs: Costs) -> float:
    return 1.0


def _write_threads(costs: Costs) -> str:
    return str(costs.threads) if costs.is_threads_known else "unknown"


METRICS: tuple[Metric, ...] = (
    Metric(
        "threads", "threads", "threads per program",
        _write_threads, lambda costs: [costs.threads], False,
    ),
    Metric(
        "elements", "elements", "elements that a program handles; other numbers are per element",
        lambda costs: str(costs.elements), lambda costs: [costs.elements], False,
    ),
    Metric(
        "memory", "threadgroup bytes", "bytes of threadgroup memory per program",
        lambda costs: str(costs.threadgroup_bytes), lambda costs: [costs.threadgroup_bytes],
    ),
    Metric(
        "barriers", "barriers", "threadgroup barriers per program, and per trip of a loop",
        _barriers, _amount("barrier", _threads),
    ),
    Metric(
        "loads", "device loads", "loads from device memory per element, with their width",
        _accesses_per_element("load"), _moved("load"),
    ),
    Metric(
        "stores", "device stores", "stores to device memory per element, with their width",
        _accesses_per_element("store"), _moved("store"),
    ),
    Metric(
        "atomics", "device atomics", "atomics on device memory per element, with their width",
        _accesses_per_element("atomic"), _moved("atomic"),
    ),
    Metric(
        "shared", "threadgroup accesses", "accesses to threadgroup memory per element",
        _per_element("shared"), _amount("shared", _elements),
    ),
    Metric(
        "flops", "flops", "additions, subtractions, products and divisions of floats per element",
        _per_element("flop"), _amount("flop", _elements),
    ),
    Metric(
        "functions", "functions", "calls of exp, log, sqrt, sin and the like per element",
        _per_element("function"), _amount("function", _elements),
    ),
    Metric(
        "simd", "simd functions", "simd_sum, simd_shuffle and the like per thread",
        lambda costs: _sum(costs, "simd", costs.threads, _number), _amount("simd", _threads),
    ),
    Metric(
        "fragments", "fragments", "8x8 matrices that a simdgroup holds",
        lambda costs: str(costs.fragments), lambda costs: [costs.fragments],
    ),
    Metric(
        "products", "fragment products", "products of 8x8 matrices per program",
        lambda costs: _sum(costs, "product", 1.0, _number), _amount("product", _one), False,
    ),
)  # fmt: skip

LABELS = {metric.key: metric.label for metric in METRICS}
