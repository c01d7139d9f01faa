"""YAML files: read within limits, decoded, and made a tree."""

from __future__ import annotations

import os
import re
import stat

from eas.septran.files.complaints import Complaints, quoted
from eas.septran.files.composer import compose
from eas.septran.files.nodes import Map, Node
from eas.septran.files.offsets import Text
from eas.support.location import Loc
from eas.support.records import frozen

LARGEST = 256 * 1024  # bytes; a mapping has one or two thousand
LONGEST_LINE = 4096  # characters; a message shows whole lines

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


@frozen(eq=False)
class Document:
    """A file that was read: its text, and the tree of its values."""

    text: Text
    root: Map

    @property
    def path(self) -> str:
        return self.text.source.path

    @property
    def start(self) -> Loc:
        """Where to point at for the file as a whole."""
        return self.text.loc(0, 1)


def read(
    path: str, complaints: Complaints, asked_at: Loc | None = None, name: str = ""
) -> Document | None:
    """The document in a file; None if it cannot be read, which is then among the complaints.

    `asked_at` is the place that names the file, as `extends` does; `name` is what places call it.
    """
    text = _text_of(path, complaints, asked_at, name)
    return None if text is None else parse(text, complaints)


def parse(text: Text, complaints: Complaints) -> Document | None:
    """The document in a text."""
    for number, line in enumerate(text.lines):
        if len(line) > LONGEST_LINE:
            start = text.offset(number + 1, 0)
            message = f"this line has more than {LONGEST_LINE} characters"
            complaints.add("S105", message, _shortened(text).loc(start, start + 1))
            return None
    if bad := _CONTROL.search(text.text):
        message = f"the character U+{ord(bad.group()):04X} is not allowed in YAML"
        complaints.add("S102", message, text.loc(bad.start(), bad.end()))
        return None
    root = compose(text, complaints)
    if isinstance(root, Map) and not root.is_tune:
        return Document(text, root)
    if not complaints:
        _complain_about_root(text, root, complaints)
    return None


def _shortened(text: Text) -> Text:
    """The text as a message shows it."""
    lines = (line if len(line) <= LONGEST_LINE else line[:80] + "...\n" for line in text.lines)
    return Text("".join(lines), text.source.path, text.source.name)


def _complain_about_root(text: Text, root: Node | None, complaints: Complaints) -> None:
    loc = text.loc(0, 1) if root is None or root.loc.line != root.loc.end_line else root.loc
    help = ["a mapping has `entrypoint:` and `task_mappings:`"]
    message = "this file is empty" if root is None else "this file holds no keys"
    complaints.add("S108", message, loc, help=help)


def _text_of(path: str, complaints: Complaints, asked_at: Loc | None, name: str) -> Text | None:
    here = asked_at or Text("", path, name).loc(0, 0)
    try:
        data = _bytes_of(path)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        complaints.add("S101", f"{quoted(path)} cannot be read: {why.lower()}", here)
        return None
    if len(data) > LARGEST:
        message = f"{quoted(path)} has more than {LARGEST // 1024} KiB"
        complaints.add("S105", message, here)
        return None
    try:
        return Text(data.decode("utf-8-sig"), path, name)
    except UnicodeDecodeError as error:
        text = Text(data.decode("utf-8", "replace").removeprefix("\ufeff"), path, name)
        at = len(data[: error.start].decode("utf-8-sig"))
        complaints.add("S101", f"this is not UTF-8: {error.reason}", text.loc(at, at + 1))
        return None


def _bytes_of(path: str) -> bytes:
    """The content, a little over the limit at most; never of a pipe or a device."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a file")
    with open(path, "rb") as file:
        return file.read(LARGEST + 1)
