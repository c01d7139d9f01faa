"""Compares the kernels of two commits or folders: `eas review main HEAD -o review.html`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eas.review.markdown import summary, write_markdown
from eas.review.page import write_page
from eas.review.pairs import STATUSES, Pair, pair_up, worst_growth
from eas.review.trees import Tree, open_tree
from eas.review.versions import Version, Wanted, read_versions
from eas.support.command_line import UsageError, lay_out, lay_out_plainly, print_text
from eas.support.escapes import escape

PAGE = "eas-review.html"
_MOST_LISTED = 20


def run(parsed: argparse.Namespace) -> int:
    """The exit code: 1 if `--fail-above` is given and a number grew by more."""
    is_compiled = False if parsed.stored else True if parsed.compile else None
    wanted = Wanted(tuple(_below_root(each) for each in parsed.paths), is_compiled)
    with tempfile.TemporaryDirectory(prefix="eas_review_") as scratch:
        old, new = (open_tree(name, Path(scratch)) for name in (parsed.old, parsed.new))
        versions = [_read(tree, wanted) for tree in (old, new)]
        if not any(versions):
            raise UsageError(_nothing(old, new, wanted))
        pairs = pair_up(*versions)
        _write(parsed, old, new, pairs)
    if parsed.fail_above is None:
        return 0
    return int(worst_growth(pairs) * 100 > parsed.fail_above)


def _below_root(path: str) -> str:
    """A path as it is written in both trees."""
    if os.path.isabs(path):
        raise UsageError(f"{path}: a path is relative to the root of both trees")
    return os.path.normpath(path).replace(os.sep, "/")


def _read(tree: Tree, wanted: Wanted) -> dict[str, Version]:
    return read_versions(tree, wanted, _say)


def _say(message: str) -> None:
    print(f"eas review: {escape(message)}", file=sys.stderr, flush=True)


def _nothing(old: Tree, new: Tree, wanted: Wanted) -> str:
    where = f" below {', '.join(wanted.paths)}" if wanted.paths else ""
    return (
        f"neither {old.label} nor {new.label} has kernels{where}: no stored Metal texts, "
        "and no kernel of a Python file whose types are known (`examples=`, docs/editors.md)"
    )


def _write(parsed: argparse.Namespace, old: Tree, new: Tree, pairs: Sequence[Pair]) -> None:
    output = parsed.output or (None if parsed.markdown else PAGE)
    if output == "-":
        if parsed.markdown:
            raise UsageError("the page and the Markdown cannot both be printed: give -o a file")
        print_text(write_page(old, new, pairs))
        return
    if output is not None:
        _write_file(Path(output), write_page(old, new, pairs))
    if parsed.markdown:
        print_text(write_markdown(old, new, pairs))
    else:
        print_text(_table(pairs) + f"\n{summary(pairs)}; the page is {output}")


def _write_file(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _table(pairs: Sequence[Pair]) -> str:
    """What changed, for the terminal."""
    from rich.table import Table
    from rich.text import Text

    changed = [pair for pair in pairs if pair.status != "same"]
    if not changed:
        return ""
    table = Table("kernel", "", "what", box=None, pad_edge=False)
    for pair in changed[:_MOST_LISTED]:
        table.add_row(Text(pair.name), STATUSES[pair.status], Text(escape(pair.headline)))
    rest = len(changed) - _MOST_LISTED
    text = lay_out(table) if sys.stdout.isatty() else lay_out_plainly(table)
    return text + (f"\n... and {rest} more" if rest > 0 else "")
