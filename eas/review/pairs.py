"""The kernels of two trees, side by side: what changed, and what became more expensive."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from eas.msl.cxx.python_lines import COMMENT
from eas.review.metal.counting import count
from eas.review.metal.kernel_costs import Costs
from eas.review.metal.parser import MetalSyntaxError
from eas.review.metrics import LABELS, Row, compare
from eas.review.versions import Version
from eas.support.records import frozen, replace

Status = Literal["broken", "more", "less", "text", "added", "removed", "fixed", "same"]

# The order in which kernels are shown, with the words for it.
STATUSES: dict[Status, str] = {
    "broken": "no longer compiles",
    "more": "more expensive",
    "added": "new",
    "fixed": "compiles now",
    "removed": "removed",
    "less": "cheaper",
    "text": "changed, at the same cost",
    "same": "unchanged",
}
_MOST_RENAMED = 60  # kernels that are compared with each other to find renamed ones
_SIMILAR = 0.6


@frozen(eq=False)
class Pair:
    """A kernel of both trees, or of one. `note` says why a cost is not counted."""

    key: str
    name: str
    old: Version | None
    new: Version | None
    status: Status
    rows: tuple[Row, ...] = ()
    old_costs: Costs | None = None
    new_costs: Costs | None = None
    note: str = ""

    @property
    def increases(self) -> list[Row]:
        """The metrics that grew, the largest growth first."""
        grown = [row for row in self.rows if row.direction == "more"]
        return sorted(grown, key=lambda row: -row.growth)

    @property
    def decreases(self) -> list[Row]:
        """The metrics that shrank, the largest gain first."""
        return sorted((r for r in self.rows if r.direction == "less"), key=lambda row: row.growth)

    @property
    def is_renamed(self) -> bool:
        return self.old is not None and self.new is not None and self.old.key != self.new.key

    @property
    def headline(self) -> str:
        """The reason for its place in the order, in a few words."""
        if self.status == "broken":
            return self.new.error if self.new else ""
        if self.status in ("added", "removed", "same"):
            return ""
        return "; ".join(map(_spelled, [*self.increases[:1], *self.decreases[:1]]))


def _spelled(row: Row) -> str:
    sign = "▲" if row.direction == "more" else "▼"
    percent = f" ({row.percent})" if row.percent else ""
    return f"{sign} {LABELS[row.key]} {row.old} → {row.new}{percent}"


def pair_up(old: Mapping[str, Version], new: Mapping[str, Version]) -> list[Pair]:
    """All kernels: first those that became more expensive, by the largest relative increase."""
    moved = _renamed(old, new)
    counted: dict[str, Costs | str] = {}
    pairs = [
        _pair(key, old.get(moved.get(key, key)), version, counted) for key, version in new.items()
    ]
    taken = {*new, *moved.values()}
    pairs += [_pair(key, each, None, counted) for key, each in old.items() if key not in taken]
    return sorted(pairs, key=_order)


def _order(pair: Pair) -> tuple[object, ...]:
    growths = [-min(row.growth, 1e9) for row in pair.increases]
    gains = sum(row.growth for row in pair.decreases)
    return list(STATUSES).index(pair.status), [*growths, 0.0], gains, pair.name, pair.key


def _pair(
    key: str, old: Version | None, new: Version | None, counted: dict[str, Costs | str]
) -> Pair:
    is_stale = old is not None and new is not None and _is_stale(old, new)
    if old is not None and new is not None and is_stale:
        old, new = replace(old, metal=old.compiled), replace(new, metal=new.compiled)
    costs = [_costs(each, counted) for each in (old, new)]
    before, after = (each if isinstance(each, Costs) else None for each in costs)
    notes = [each for each in costs if isinstance(each, str)]
    rows = tuple(compare(before, after))
    if old is None or new is None:
        status: Status = "added" if old is None else "removed"
        if new is not None and new.error:
            status = "broken"
    else:
        status = _status(old, new, rows)
    if is_stale:
        notes.append("the stored text is not that of the new Python; both are compiled here")
    note = "; ".join(dict.fromkeys(notes))
    return Pair(key, _label(key), old, new, status, rows, before, after, note)


def _is_stale(old: Version, new: Version) -> bool:
    """Whether a stored text was left as it was, although the kernel changed."""
    if not old.compiled or not new.compiled:
        return False
    return plain(old.metal) == plain(new.metal) and plain(old.compiled) != plain(new.compiled)


def _label(key: str) -> str:
    """`softmax` for `snapshots/kernels/softmax`, `relu` for `kernels/relu.py::relu`."""
    return key.rpartition("::" if "::" in key else "/")[2]


def _status(old: Version, new: Version, rows: Iterable[Row]) -> Status:
    if bool(new.error) != bool(old.error):
        return "broken" if new.error else "fixed"
    directions = {row.direction for row in rows}
    if "more" in directions:
        return "more"
    if "less" in directions:
        return "less"
    is_same = plain(old.metal) == plain(new.metal) and not is_python_changed(old, new)
    return "same" if is_same else "text"


def is_python_changed(old: Version, new: Version) -> bool:
    """Whether the functions differ; if one is not found, there is nothing to compare."""
    if not old.python or not new.python:
        return False
    texts = [[line for part in each.python for line in part.lines] for each in (old, new)]
    return texts[0] != texts[1]


def plain(metal: str) -> str:
    """A text without the comments that name Python lines."""
    return re.sub(r"[ \t]+$", "", COMMENT.sub("", metal), flags=re.MULTILINE)


def _costs(version: Version | None, counted: dict[str, Costs | str]) -> Costs | str | None:
    """The costs of a text, or why there are none."""
    if version is None or not version.metal:
        return None
    if version.metal not in counted:
        try:
            counted[version.metal] = count(version.metal)
        except MetalSyntaxError as error:
            counted[version.metal] = f"the cost is not counted: {error}"
    return counted[version.metal]


def _renamed(old: Mapping[str, Version], new: Mapping[str, Version]) -> dict[str, str]:
    """For new keys the old key of the same kernel: it was moved, or its name was changed."""
    gone = [each for key, each in old.items() if key not in new]
    come = [each for key, each in new.items() if key not in old]
    found: dict[str, str] = {}
    for version in come:
        same = [each for each in gone if each.name == version.name]
        if len(same) == 1 and sum(each.name == version.name for each in come) == 1:
            found[version.key] = same[0].key
            gone.remove(same[0])
    rest = [each for each in come if each.key not in found]
    if len(gone) * len(rest) <= _MOST_RENAMED**2:
        _add_similar(gone, rest, found)
    return found


def _add_similar(gone: list[Version], come: list[Version], found: dict[str, str]) -> None:
    """Pairs those whose texts are most alike, the best pairs first."""
    ranked: list[tuple[float, Version, Version]] = []
    for one in come:
        for other in gone:
            ratio = _likeness(one, other)
            if ratio >= _SIMILAR:
                ranked.append((ratio, one, other))
    ranked.sort(key=lambda each: -each[0])
    used: set[str] = set()
    for _, one, other in ranked:
        if one.key not in found and other.key not in used:
            found[one.key] = other.key
            used.add(other.key)


def _likeness(one: Version, other: Version) -> float:
    if not one.metal or not other.metal:
        return 0.0
    texts = [_body(each) for each in (one, other)]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    bound = matcher.real_quick_ratio()
    return matcher.ratio() if bound >= _SIMILAR and matcher.quick_ratio() >= _SIMILAR else 0.0


def _body(version: Version) -> list[str]:
    """The lines of the kernel itself, without its name and its parameters."""
    body = plain(version.metal).partition("kernel void")[2].partition(") {\n")[2]
    return [line for line in body.split("\n") if line.strip()]


def worst_growth(pairs: Iterable[Pair]) -> float:
    """The largest relative increase of any metric; infinite if a kernel no longer compiles."""
    growths = [row.growth for pair in pairs for row in pair.increases]
    growths += [math.inf for pair in pairs if pair.status == "broken"]
    return max(growths, default=0.0)
