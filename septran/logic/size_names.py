"""Sizes as `shapes=` names them: `M`, `R=3` with what it is by default, or a sum such as `P+R-1`.

The size of an axis that is a sum follows from the others. Its text is its name everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_DEFAULT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d{1,9})\s*")
_TERM = re.compile(r"([+-]?)(\d+|[A-Za-z_]\w*)")


def normal_size(text: str) -> str | None:
    """A size without spaces: `P + R - 1` is `P+R-1`. None if it is neither a name nor a sum."""
    if re.search(r"\w\s+\w", text):
        return None
    plain = "".join(text.split())
    if plain.isidentifier():
        return plain
    terms = _TERM.findall(plain)
    is_sum = len(terms) > 1 and all(sign for sign, _ in terms[1:])
    is_whole = "".join(sign + term for sign, term in terms) == plain
    return plain if is_sum and is_whole and names_in_size(plain) else None


def split_default(text: str) -> tuple[str, int | None]:
    """`R=3` as the size `R` and its default; a size without one has none."""
    found = _DEFAULT.fullmatch(text)
    return (text, None) if found is None else (found[1], int(found[2]))


def is_sum(size: str) -> bool:
    return not size.isidentifier()


def names_in_size(size: str) -> tuple[str, ...]:
    """The names in a size: itself, or those of the sum."""
    return tuple(term for _, term in _TERM.findall(size) if not term.isdigit())


def plain_names(sizes: Iterable[str]) -> list[str]:
    """The sizes that are no sums, each once, in their order."""
    return [each for each in dict.fromkeys(sizes) if not is_sum(each)]


def value_of(size: str, values: Mapping[str, int]) -> int:
    """The number that a size is, by the values of names. It may be negative."""
    total = 0
    for sign, term in _TERM.findall(size):
        number = int(term) if term.isdigit() else values[term]
        total += -number if sign == "-" else number
    return total
