"""The functions that an MSL text defines, and which of them call which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from eas.msl.host.tokens import Token, closing
from eas.support.records import frozen


@frozen
class Function:
    """A definition. `at`, `end`, `opening` and `last` are indices in the list of tokens.

    They are those of its name, of the `)` of its parameters, and of the `{` and `}` of its body.
    """

    name: str
    parameters: tuple[Token, ...]
    body: tuple[Token, ...]
    line: int
    at: int
    end: int
    opening: int
    last: int


def find_functions(tokens: Sequence[Token]) -> Iterator[Function]:
    """The functions that are defined outside of all others."""
    at = 0
    while at < len(tokens):
        if tokens[at].text == "(" and at and tokens[at - 1].kind == "name":
            end = closing(tokens, at)
            if end + 1 < len(tokens) and tokens[end + 1].text == "{":
                last = closing(tokens, end + 1)
                name = tokens[at - 1]
                parameters, body = tuple(tokens[at + 1 : end]), tuple(tokens[end + 2 : last])
                yield Function(name.text, parameters, body, name.line, at - 1, end, end + 1, last)
                at = last
            else:
                at = end
        at += 1


def called(function: Function, names: set[str]) -> set[str]:
    """Which of some functions this one calls."""
    return {
        token.text
        for token, after in pairwise(function.body)
        if token.text in names and after.text in ("(", "<")
    }
