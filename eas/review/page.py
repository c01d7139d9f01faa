"""The page of a review: one HTML file with everything in it, to be read without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from eas.review.differences import compare_lines, without_numbers
from eas.review.links import Line, ir_lines, metal_lines, python_lines
from eas.review.metrics import METRICS, Row
from eas.review.pairs import STATUSES, Pair, Status
from eas.review.sources import PythonPart
from eas.review.trees import Tree
from eas.review.versions import Version

_ALWAYS = {"barriers", "loads", "stores"}
_SIGNS = {"more": "▲", "less": "▼", "same": "", "other": "●"}
_SPOKEN = {"more": "more: ", "less": "less: ", "same": "", "other": "changed: "}


def write_page(old: Tree, new: Tree, pairs: Sequence[Pair]) -> str:
    """The page as a text."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>eas review {escape(old.name)} → {escape(new.name)}</title>",
        f"<style>{style}</style></head><body>",
        *_header(old, new, pairs),
        '<div class="columns">',
        *_navigation(pairs),
        '<main id="main" tabindex="-1">',
        *_overview(pairs),
        "<noscript><p>The texts of the kernels are shown with JavaScript only.</p></noscript>",
        '<section id="kernel" hidden aria-label="Kernel"></section></main></div>',
        _HELP,
        f'<script type="application/octet-stream" id="texts">{_packed(pairs)}</script>',
        f"<script>{script}</script></body></html>",
    ]
    text = "\n".join(parts) + "\n"
    return text.encode("utf-8", "replace").decode()  # half characters of file names


def _asset(name: str) -> str:
    return files("eas.review").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _header(old: Tree, new: Tree, pairs: Sequence[Pair]) -> Iterator[str]:
    yield '<a class="skip" href="#main">Skip to the costs</a>'
    yield '<header><div><h1><a href="#">eas review</a></h1>'
    yield f'<p class="trees">{_tree(old)} <span aria-label="to">→</span> {_tree(new)}</p></div>'
    yield '<ul class="chips" aria-label="Summary">'
    for status, count in _counts(pairs).items():
        yield f'<li class="chip {status}"><b>{count}</b> {escape(STATUSES[status])}</li>'
    yield '</ul><button id="help-button" type="button" aria-keyshortcuts="?">'
    yield "Keys <kbd>?</kbd></button></header>"


def _tree(tree: Tree) -> str:
    title = f" <q>{escape(tree.title)}</q>" if tree.commit else ""
    return f"<span><code>{escape(tree.label)}</code>{title}</span>"


def _counts(pairs: Sequence[Pair]) -> dict[Status, int]:
    counts: dict[Status, int] = {}
    for status in STATUSES:
        if any(pair.status == status for pair in pairs):
            counts[status] = sum(pair.status == status for pair in pairs)
    return counts


def _navigation(pairs: Sequence[Pair]) -> Iterator[str]:
    yield '<nav aria-label="Kernels"><label for="search">Find a kernel <kbd>/</kbd></label>'
    yield '<input id="search" type="search" autocomplete="off" spellcheck="false">'
    for status in _counts(pairs):
        opened = "" if status == "same" else " open"
        yield f"<details{opened}><summary>{escape(STATUSES[status])}</summary><ul>"
        for number, pair in enumerate(pairs):
            if pair.status == status:
                yield (
                    f'<li><a href="#{number}" data-number="{number}" title="{escape(pair.key)}">'
                    f'{escape(pair.name)}</a><span class="headline">{escape(pair.headline)}</span>'
                    "</li>"
                )
        yield "</ul></details>"
    yield "</nav>"


def _overview(pairs: Sequence[Pair]) -> Iterator[str]:
    changed = [(number, pair) for number, pair in enumerate(pairs) if pair.status != "same"]
    yield '<section id="overview"><h2>What changed</h2>'
    if not changed:
        yield f"<p>Nothing: {len(pairs)} kernels are as they were.</p></section>"
        return
    grown = {
        row.key for _, pair in changed for row in pair.rows if row.direction in ("more", "less")
    }
    columns = [metric for metric in METRICS if metric.key in grown | _ALWAYS]
    yield (
        "<p>Counted in the Metal texts, for one full program. Accesses, flops and functions are "
        "per element; <code>/ k</code> is per trip of the loop over <code>k</code>, whose length "
        "is not known. Kernels are in the order of their largest relative increase.</p>"
    )
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Costs"><table><thead><tr>'
    yield '<th scope="col">kernel</th>'
    for metric in columns:
        yield f'<th scope="col" title="{escape(metric.help)}">{escape(metric.label)}</th>'
    yield "</tr></thead><tbody>"
    for number, pair in changed:
        yield from _overview_row(number, pair, [metric.key for metric in columns])
    yield "</tbody></table></div></section>"


def _overview_row(number: int, pair: Pair, columns: Sequence[str]) -> Iterator[str]:
    rows = {row.key: row for row in pair.rows}
    yield f'<tr data-number="{number}" class="{pair.status}"><th scope="row">'
    yield f'<a href="#{number}">{escape(pair.name)}</a>'
    yield f'<span class="status {pair.status}">{escape(STATUSES[pair.status])}</span>'
    if pair.status == "broken":
        yield f'<span class="error">{escape(pair.headline)}</span>'
    yield "</th>"
    for key in columns:
        yield _cell(rows.get(key))
    yield "</tr>"


def _cell(row: Row | None) -> str:
    if row is None:
        return '<td class="none"></td>'
    if row.old == row.new:
        return f'<td class="same">{escape(row.new)}</td>'
    if not row.old or not row.new:
        return f"<td>{escape(row.old or row.new)}</td>"
    sign, spoken = _SIGNS[row.direction], _SPOKEN[row.direction]
    kind = f"{row.direction}{' slight' * row.is_slight}"
    return (
        f'<td class="{kind}"><span aria-hidden="true">{sign}</span>'
        f'<span class="spoken">{spoken}</span> {escape(row.old)} → <b>{escape(row.new)}</b> '
        f"<small>{escape(row.percent)}</small></td>"
    )


def _packed(pairs: Sequence[Pair]) -> str:
    """The texts of all kernels, compressed: they are shown one kernel at a time."""
    kernels = [_kernel(pair) for pair in pairs]
    labels = {metric.key: [metric.label, metric.help] for metric in METRICS}
    data = {"labels": labels, "statuses": STATUSES, "kernels": kernels}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def _kernel(pair: Pair) -> dict[str, Any]:
    old, new = pair.old, pair.new
    sides = (old, new)
    pythons = [() if each is None else each.python for each in sides]
    return {
        "name": pair.name,
        "key": pair.key,
        "from": old.key if pair.is_renamed and old else "",
        "status": pair.status,
        "note": pair.note,
        "errors": ["" if each is None else each.error for each in sides],
        "rows": [[r.key, r.old, r.new, r.direction, r.percent, r.is_slight] for r in pair.rows],
        "numbers": [_file_lines(parts) for parts in pythons],
        "files": [[_part(part) for part in parts] for parts in pythons],
        "python": compare_lines(python_lines(pythons[0]), python_lines(pythons[1])),
        "ir": compare_lines(_ir(old), _ir(new), without_numbers),
        "metal": compare_lines(_metal(old), _metal(new)),
    }


def _file_lines(parts: Sequence[PythonPart]) -> list[int]:
    """The line in its file of each Python line that is shown."""
    return [part.first + at for part in parts for at in range(len(part.lines))]


def _part(part: PythonPart) -> list[Any]:
    return [part.file, part.name, len(part.lines)]


def _ir(version: Version | None) -> list[Line]:
    return [] if version is None else ir_lines(version.ir, version.python)


def _metal(version: Version | None) -> list[Line]:
    return [] if version is None else metal_lines(version.metal, version.python)


_HELP = """<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keys</h2><dl>
<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous kernel</dd></div>
<div><dt><kbd>↓</kbd> <kbd>↑</kbd></dt><dd>next and previous line; the lines that belong to it light up</dd></div>
<div><dt><kbd>→</kbd> <kbd>←</kbd></dt><dd>to the next and previous text: Python, IR, Metal</dd></div>
<div><dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous change in the text</dd></div>
<div><dt><kbd>v</kbd></dt><dd>show both versions, the new one, the old one</dd></div>
<div><dt><kbd>c</kbd></dt><dd>only the lines around changes</dd></div>
<div><dt><kbd>o</kbd></dt><dd>back to the overview</dd></div>
<div><dt><kbd>/</kbd></dt><dd>find a kernel</dd></div>
<div><dt><kbd>?</kbd> <kbd>Esc</kbd></dt><dd>open and close this list</dd></div>
</dl><form method="dialog"><button>Close</button></form></dialog>"""  # noqa: E501
