"""How many bytes the types of Metal take, and at which multiples they lie."""

from __future__ import annotations

import re

from eas.msl.host.tokens import closing, tokenize

SCALARS = {
    "bool": 1, "char": 1, "uchar": 1, "half": 2, "bfloat": 2, "short": 2, "ushort": 2, "int": 4,
    "uint": 4, "float": 4, "atomic_int": 4, "atomic_uint": 4, "atomic_float": 4, "atomic_bool": 1,
    "long": 8, "ulong": 8, "size_t": 8, "atomic_ulong": 8,
}  # fmt: skip
SPACES = {"device", "constant", "threadgroup", "const", "volatile", "struct", "*", "&"}

Layout = tuple[int, int]  # size and alignment


def layout_of(declared: str, text: str) -> Layout:
    """The layout of what a parameter points to; a struct is looked up in the text."""
    name = " ".join(word for word in declared.split() if word not in SPACES)
    return _structs(text).get(name) or _plain(name)


def _plain(name: str) -> Layout:
    match = re.fullmatch(r"(packed_)?(.*?)([234]?)", name)
    assert match is not None
    size = SCALARS[match[2]]
    width = int(match[3] or 1)
    if match[1]:
        return size * width, size
    whole = size * (4 if width == 3 else width)
    return whole, whole


def _structs(text: str) -> dict[str, Layout]:
    """The structs of a text, whose members are of types that stand before."""
    found: dict[str, Layout] = {}
    tokens = tokenize(text)
    for at, token in enumerate(tokens):
        if token.text == "struct" and tokens[at + 2].text == "{":
            members = tokens[at + 3 : closing(tokens, at + 2)]
            found[tokens[at + 1].text] = _struct(" ".join(t.text for t in members), found)
    return found


def _struct(members: str, known: dict[str, Layout]) -> Layout:
    end, alignment = 0, 1
    for member in members.split(";")[:-1]:
        match = re.fullmatch(r"\s*(.+?) (\w+)(?: \[ (\d+) \])?\s*", member)
        assert match is not None, member
        size, multiple = known.get(match[1]) or _plain(match[1])
        end = -(-end // multiple) * multiple + size * int(match[3] or 1)
        alignment = max(alignment, multiple)
    return -(-end // alignment) * alignment, alignment
