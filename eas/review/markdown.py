"""A review as a comment for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eas.review.metrics import LABELS, Row
from eas.review.pairs import STATUSES, Pair
from eas.review.trees import Tree

_MOST_ROWS = 40
_SIGNS = {"more": "🔺", "less": "🔽", "same": "", "other": ""}


def write_markdown(old: Tree, new: Tree, pairs: Sequence[Pair]) -> str:
    """A table of what changed, the most expensive first."""
    return "\n".join(_lines(old, new, pairs)) + "\n"


def _lines(old: Tree, new: Tree, pairs: Sequence[Pair]) -> Iterator[str]:
    changed = [pair for pair in pairs if pair.status != "same"]
    yield f"### Cost of the Metal texts: {_code(old.label)} → {_code(new.label)}"
    yield ""
    yield summary(pairs) + "."
    if not changed:
        return
    yield ""
    yield "| kernel | | what changed |"
    yield "|---|---|---|"
    for pair in changed[:_MOST_ROWS]:
        yield f"| {_code(pair.name)} | {STATUSES[pair.status]} | {_changes(pair)} |"
    if len(changed) > _MOST_ROWS:
        yield ""
        yield f"{len(changed) - _MOST_ROWS} more are on the page of `eas review`."
    yield ""
    yield (
        "<sub>Counted in the texts, for one full program; loads, stores and flops are per element, "
        "and `/ k` is per trip of the loop over `k`.</sub>"
    )


def summary(pairs: Sequence[Pair]) -> str:
    """`2 more expensive, 1 cheaper, 95 unchanged`."""
    counts = [(text, sum(pair.status == s for pair in pairs)) for s, text in STATUSES.items()]
    return ", ".join(f"{count} {text}" for text, count in counts if count) or "no kernels"


def _changes(pair: Pair) -> str:
    if pair.status == "broken":
        return _plain(pair.headline)
    return "<br>".join(map(_change, [*pair.increases, *pair.decreases]))


def _change(row: Row) -> str:
    percent = f" ({row.percent})" if row.percent else ""
    old, new = _plain(row.old), _plain(row.new)
    return f"{_SIGNS[row.direction]} {LABELS[row.key]}: {old} → **{new}**{percent}"


def _code(text: str) -> str:
    """A name as code; no name can end it, or the cell of its table."""
    safe = re.sub(r"[`|\r\n]", "_", text)
    return f"`{safe}`"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#@])", r"\\\1", text).replace("\n", " ")
