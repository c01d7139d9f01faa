"""Texts on one line, whatever characters they have: escaped as in a string of Python."""

from __future__ import annotations

import re

# Everything that is not sure to show as itself, on one line, in every editor. The same on every
# machine, as `str.isprintable` is not. Half characters, which stand for bytes in names of files
# that are no UTF-8, are among them.
_HIDDEN = r"[^ -~\u00a1-\u1fff\u2070-\ud7ff]"
_HIDDEN_IN_LATIN = r"[^ -~\u00a1-\u00ff]"  # for most texts; Python compiles it much faster
SHORT = {"\n": "n", "\t": "t", "\r": "r", '"': '"', "\\": "\\"}


def escape(text: str, unsafe: str = "") -> str:
    """The text with hidden characters as escapes, and those that a pattern finds one by one."""
    hidden = _HIDDEN_IN_LATIN if max(text, default="") <= "\u00ff" else _HIDDEN
    return re.sub(f"{unsafe}|{hidden}" if unsafe else hidden, _escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in SHORT:
        return "\\" + SHORT[character]
    code = ord(character)
    for letter, digits in (("x", 2), ("u", 4)):
        if code < 16**digits:
            return f"\\{letter}{code:0{digits}x}"
    return f"\\U{code:08x}"
