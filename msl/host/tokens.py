"""The words of an MSL text, with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, cast

from eas.msl.host.errors import MslError
from eas.support.records import frozen

Kind = Literal["name", "number", "string", "directive", "sign"]

_WORD = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<sign>\[\[|\]\]|::|->|\+\+|--|<<=|>>=|<<|&&|\|\||[-+*/%&|^=!<>]=|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


@frozen
class Token:
    """A word: `start` and `end` are its place in the text, `line` counts from 1."""

    kind: Kind
    text: str
    start: int
    end: int
    line: int


@lru_cache(maxsize=8)
def tokenize(text: str) -> tuple[Token, ...]:
    """All words but comments and white space.

    A text goes through several steps, most of which leave most texts as they are.
    """
    return tuple(_words(text))


def _words(text: str) -> Iterator[Token]:
    at, line = 0, 1
    for match in _WORD.finditer(text):
        start, end = match.span()
        if start != at:
            break
        if match.lastgroup != "space":
            yield Token(cast(Kind, match.lastgroup), match[0], start, end, line)
        line += text.count("\n", start, end)
        at = end
    if at < len(text):
        raise MslError(f"line {line}: `{text[at : at + 10]}` is no word of Metal")


_CLOSING = {"(": ")", "[": "]", "{": "}", "[[": "]]"}


def closing(tokens: Sequence[Token], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    expected: list[str] = []
    for place in range(at, len(tokens)):
        text = tokens[place].text
        if text in _CLOSING:
            expected.append(_CLOSING[text])
        elif text in _CLOSING.values():
            _close(tokens[place], expected)
        if not expected:
            return place
    raise MslError(f"line {tokens[at].line}: `{tokens[at].text}` is never closed")


def _close(token: Token, expected: list[str]) -> None:
    # `a[b[0]]` ends with two single brackets that look like one double.
    if token.text == "]]" and expected[-2:] == ["]", "]"]:
        del expected[-2:]
    elif not expected or expected.pop() != token.text:
        raise MslError(f"line {token.line}: `{token.text}` closes nothing")
