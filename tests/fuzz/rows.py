"""Random kernels over rows: reductions along them, which the rows want back or memory gets."""

from __future__ import annotations

from random import Random

_HEAD = """\
import eas
from eas import mk


@eas.kernel
def compute(x, out):
    i = mk.program_id(0)
    row = mk.arange(0, {rows})
    at = i * {size} + row[:, None] * {columns} + mk.arange(0, {columns})[None, :]
    a = mk.load(x, at)
    b = a + 1.0
"""

REDUCTIONS = ("sum", "max", "min")
PLACES = 3
"""How many times as many elements as a program reads it may write."""


def write_rows(random: Random) -> tuple[str, int]:
    """The text of a kernel, and how many elements of `x` each program has."""
    rows, columns = random.choice((2, 4, 8)), random.choice((1, 2, 7, 8, 32, 32, 64, 64))
    size = rows * columns
    lines = [_HEAD.format(rows=rows, columns=columns, size=size)]
    for _ in range(random.randrange(2, 8)):
        lines.append(f"    {_statement(random, rows == columns, size)}\n")
    for number, name in enumerate("ab"):
        place = f"i * {PLACES * size} + {number * size}"
        lines.append(f"    mk.store(out, {place} + at - i * {size}, {name})\n")
    return "".join(lines), size


def _statement(random: Random, is_square: bool, size: int) -> str:
    name, other = random.sample("ab", 2)
    reduced = f"mk.{random.choice(REDUCTIONS)}({random.choice((name, f'{name} - {other}'))}"
    place = f"i * {PLACES * size} + {random.randrange(2, PLACES) * size} + row"
    choices = [
        f"{name} = {name} - {reduced}, axis=1)[:, None]",
        f"{name} = {name} - ({reduced}, axis=1) + mk.sum({other}, axis=1))[:, None]",
        f"{name} = mk.where({name} < mk.max({other}, axis=1, keep_dims=True), {other}, {name})",
        *[f"mk.store(out, {place}, {reduced}, axis=1))"] * 3,
        f"mk.store(out, {place}, mk.load(out, {place}) + {reduced}))",
        *[f"{name} = {name} + mk.load(out, {place})[:, None]"] * 2,
        f"{name} = mk.minimum({name}, {reduced}, axis=0)[None, :])",
    ]
    if is_square:
        choices += [f"{name} = {name} - {reduced}, axis=0)[:, None]"] * 4
    return random.choice(choices)
