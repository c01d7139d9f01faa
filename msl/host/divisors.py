"""Our helpers for `//` and `%`, marked for check mode: it reports that they divide by zero."""

from __future__ import annotations

from eas.msl.cxx.helpers import DIVISIONS
from eas.msl.host.call_graph import Function, find_functions
from eas.msl.host.tokens import tokenize

_INTEGERS = frozenset({"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"})


def with_divisors(text: str) -> str:
    """The text with a mark at the start of each helper; it does nothing outside of check mode."""
    tokens = tokenize(text)
    parts: list[str] = []
    done = 0
    for function in find_functions(tokens):
        if _divides(function):
            place = tokens[function.opening].end
            parts += [text[done:place], " EAS_DIVISOR(b);"]
            done = place
    return "".join(parts) + text[done:]


def _divides(function: Function) -> bool:
    """Whether a function is `T floor_div(T a, T b)` of integers, or another division helper."""
    words = [token.text for token in function.parameters]
    is_ours = function.name in DIVISIONS and words[1:3] + words[4:] == ["a", ",", "b"]
    return is_ours and {words[0], words[3]} <= _INTEGERS
