"""Two texts as one list of lines: those of both, those that are gone, those that are new."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence

from eas.review.links import Line

# `=` with the Python lines behind it in both, `-` and `+` with that of one side.
Difference = tuple[str, str, int, int]

_VALUE = re.compile(r"(%(?:\w+\.)?)\d+\b")
_LONG = 3000  # lines; longer texts are compared less thoroughly


def compare_lines(
    old: Sequence[Line], new: Sequence[Line], key: Callable[[str], str] = str
) -> list[Difference]:
    """Lines are equal if their keys are; then the new one is shown."""
    is_long = max(len(old), len(new)) > _LONG
    keys = [[key(line.text) for line in side] for side in (old, new)]
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=is_long)
    return [each for opcode in matcher.get_opcodes() for each in _rows(opcode, old, new)]


def _rows(
    opcode: tuple[str, int, int, int, int], old: Sequence[Line], new: Sequence[Line]
) -> Iterator[Difference]:
    tag, old_from, old_to, new_from, new_to = opcode
    if tag == "equal":
        for before, after in zip(old[old_from:old_to], new[new_from:new_to], strict=True):
            yield "=", after.text, before.python, after.python
        return
    for line in old[old_from:old_to]:
        yield "-", line.text, line.python, -1
    for line in new[new_from:new_to]:
        yield "+", line.text, -1, line.python


def without_numbers(line: str) -> str:
    """A line of IR without the numbers of its values: an op that is added shifts all of them."""
    return _VALUE.sub(r"\1", line)
