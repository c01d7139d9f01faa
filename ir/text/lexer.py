"""The words of the text form: one pattern each, for the parser to read and the printer to obey."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from eas.support.escapes import SHORT, escape

Kind = Literal["string", "place", "value", "number", "word", "mark", "newline", "end"]


class Token(NamedTuple):
    kind: Kind
    text: str
    line: int


class ParseError(Exception):
    """Text that is no function, with the line (from 1) and what was expected there."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


WORD = r"[^\W\d]\w*"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|-inf"
STRING = r'"(?:[^"\\\n]|\\.)*"'
FILE = r"[A-Za-z_][\w.\-]*"
SPOT = rf"(?:(?P<file>{FILE}|{STRING}):)?(?P<span>\d+:\d+-(?:\d+:)?\d+)"
_SPOT = SPOT.replace("?P<file>", "?:").replace("?P<span>", "?:")


@cache
def _token() -> re.Pattern[str]:
    """Compiled for those who read text; it takes milliseconds, and most only print it."""
    return re.compile(
        rf"(?P<string>{STRING})"
        rf"|(?P<place>@{_SPOT}(?: from {_SPOT})*)"
        rf"|(?P<value>%(?:(?:{WORD}|{STRING})\.)?\d+)"
        rf"|(?P<number>{NUMBER})"
        rf"|(?P<word>{WORD})"
        r"|(?P<mark>\.\.|->|[(){}\[\],:=*@])"
        r"|(?P<newline>\n)"
        r"|(?P<skipped>[ \t\r]+|\#[^\n]*)"
    )


def split_tokens(text: str) -> list[Token]:
    """The tokens of a text; line breaks inside parentheses and brackets are not among them."""
    tokens: list[Token] = []
    position, line, depth = 0, 1, 0
    pattern = _token()
    while position < len(text):
        found = pattern.match(text, position)
        if found is None:
            raise ParseError(line, f"unexpected character {text[position]!r}")
        kind, word = found.lastgroup, found[0]
        if kind == "newline":
            if depth == 0:
                tokens.append(Token("newline", "the end of the line", line))
            line += 1
        elif kind != "skipped":
            depth += (word in "([") - (word in ")]")
            tokens.append(Token(_KINDS[kind or ""], word, line))
        position = found.end()
    tokens.append(Token("newline", "the end of the line", line))
    tokens.append(Token("end", "the end of the text", line))
    return tokens


_KINDS: dict[str, Kind] = {
    "string": "string",
    "place": "place",
    "value": "value",
    "number": "number",
    "word": "word",
    "mark": "mark",
}

_UNSAFE = r'["\\]'
_ESCAPE = r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))"
_LONG = {short: character for character, short in SHORT.items()}


def quote(text: str) -> str:
    """A string of any characters as a token."""
    is_plain = text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text}"' if is_plain else '"' + escape(text, _UNSAFE) + '"'


def unquote(token: str, line: int) -> str:
    """The string that a token stands for."""

    def character(found: re.Match[str]) -> str:
        digits = found[1] or found[2] or found[3]
        if digits and int(digits, 16) <= 0x10FFFF:
            return chr(int(digits, 16))
        if found[4] not in _LONG:
            raise ParseError(line, f"unknown escape {found[0]!r} in a string")
        return _LONG[found[4]]

    return re.sub(_ESCAPE, character, token[1:-1])


def quote_unless(pattern: str, text: str) -> str:
    """The text as it is if it matches a pattern, else quoted."""
    is_word = text.isascii() and text.isidentifier()  # which all patterns take
    return text if is_word or re.fullmatch(pattern, text) else quote(text)
