"""The Metal texts of kernels, stored beside their files: `eas snapshot --update kernels.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from eas.cli.show import kernels_of
from eas.frontend_ast.source.errors import CompileError
from eas.support.command_line import UsageError, print_text
from eas.testing.snapshots import FOLDER, Mismatch, check_file, file_name, stored_text


def snapshot(files: Sequence[str], *, update: bool) -> int:
    """Compares the texts with those that are stored, or writes them; prints a line for each.

    Returns 0, or 1 if one differs or cannot be compiled.
    """
    if not files:
        raise UsageError("no files are given")
    lines: list[str] = []
    has_failed = False
    for file in files:
        for line, is_right in _of_file(file, update):
            lines.append(line)
            has_failed |= not is_right
    print_text("\n".join(lines))
    return int(has_failed)


def _of_file(file: str, update: bool) -> Iterator[tuple[str, bool]]:
    for name, kernel in kernels_of(file).items():
        if not kernel.examples:
            yield f"{file}::{name}: no examples, nothing is stored", True
        for number, example in enumerate(kernel.examples, 1):
            stored = file_name(name, number, len(kernel.examples))
            target = Path(file).parent / FOLDER / stored
            try:
                text = stored_text(kernel.compile(*example.args, **example.kwargs))
                is_written = check_file(target, text, update=update)
            except CompileError as error:
                yield f"{file}::{name}: cannot be compiled\n{error}", False
            except Mismatch as error:
                yield str(error), False
            else:
                yield f"{target}: {'written' if is_written else 'the same'}", True
