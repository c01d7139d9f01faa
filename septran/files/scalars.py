"""What a plain scalar of YAML 1.2 means: the core schema."""

from __future__ import annotations

import re

from eas.septran.files.nodes import Plain

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NAMED: dict[str, Plain] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf")},
    **dict.fromkeys([".nan", ".NaN", ".NAN"], float("nan")),
}
_BASES = {"0o": 8, "0x": 16}
LONGEST_NUMBER = 18  # digits: what fits in 64 bits, whatever it is multiplied with is checked


class NumberTooLong(Exception):
    """A number with more digits than anything here can have."""


def meaning_of(text: str) -> Plain:
    """`32` is an int, `1e9` a float, `true` a bool, `~` nothing; all else, as `yes`, is a text."""
    if text in _NAMED:
        return _NAMED[text]
    if _INT.fullmatch(text):
        if len(text) > LONGEST_NUMBER:
            raise NumberTooLong
        return int(text[2:], _BASES[text[:2]]) if text[:2] in _BASES else int(text)
    if _FLOAT.fullmatch(text):
        if len(text) > 2 * LONGEST_NUMBER:
            raise NumberTooLong
        return float(text)
    return text


def is_text(text: str) -> bool:
    """Whether a text means itself, so that it needs no quotes for that."""
    try:
        return meaning_of(text) == text
    except NumberTooLong:
        return False
