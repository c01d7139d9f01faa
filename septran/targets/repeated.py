"""Names for numbers that a text would repeat, such as the extent of the last tile of an axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from eas.septran.flat.affine import (
    Affine,
    Atom,
    Floor,
    Max,
    Min,
    Mod,
    affine,
    maximum,
    minimum,
    operands_of,
)
from eas.septran.flat.nodes import For, If, ParallelFor, Stmt, walk
from eas.septran.flat.substitution import map_numbers
from eas.support.records import replace

_WORDS: dict[type, str] = {Min: "extent", Max: "most", Floor: "tiles", Mod: "slot"}

Named = tuple[str, Affine]


def name_repeated(
    body: Sequence[Stmt], scope: Sequence[str], fresh: Callable[[str], str]
) -> tuple[list[Named], list[Stmt]]:
    """Names with their numbers, and the statements that use them.

    `scope` are the names that have a value where the statements begin, the innermost loop last.
    Only what these decide is named here: the rest has its turn in an inner loop.
    """
    counts: Counter[Atom] = Counter()

    def count(number: Affine) -> Affine:
        counts.update(_atoms(number))
        return number

    for stmt in walk(tuple(body)):
        map_numbers(stmt, count)
    known = set(scope)
    repeated = [
        atom
        for atom, times in counts.items()
        if times > 1 and not isinstance(atom, str) and _alone(atom).names <= known
    ]
    repeated.sort(key=lambda atom: len(str(atom)))  # what is part of another one comes first
    names: dict[Atom, str] = {}
    named: list[Named] = []
    for atom in repeated:
        value = _with_names(_alone(atom), names, but=atom)
        inner = [each for each in scope if each in _alone(atom).names]
        word = "next_slot" if _is_ahead(atom) else _WORDS[type(atom)]
        names[atom] = fresh(f"{inner[-1]}_{word}" if inner and inner[-1].islower() else word)
        named.append((names[atom], value))
    return named, [_renamed(stmt, names) for stmt in body] if names else list(body)


def _is_ahead(atom: Atom) -> bool:
    """Whether an atom is the slot of a later trip."""
    return isinstance(atom, Mod) and atom.operand.constant > 0


def _alone(atom: Atom) -> Affine:
    return Affine(0, ((atom, 1),))


def _atoms(number: Affine) -> list[Atom]:
    """The atoms of a number, and those inside of them."""
    found: list[Atom] = []
    for atom, _ in number.terms:
        found.append(atom)
        for operand in operands_of(atom):
            found += _atoms(operand)
    return found


def _with_names(number: Affine, names: dict[Atom, str], but: Atom | None = None) -> Affine:
    total = affine(number.constant)
    for atom, coefficient in number.terms:
        total = total + _with_name(atom, names, but) * coefficient
    return total


def _with_name(atom: Atom, names: dict[Atom, str], but: Atom | None) -> Affine:
    if atom in names and atom != but:
        return affine(names[atom])
    operands = [_with_names(each, names) for each in operands_of(atom)]
    match atom:
        case Min():
            return minimum(*operands)
        case Max():
            return maximum(*operands)
        case Floor(divisor=divisor):
            return operands[0] // divisor
        case Mod(divisor=divisor):
            return operands[0] % divisor
        case str():
            return affine(atom)


def _renamed(stmt: Stmt, names: dict[Atom, str]) -> Stmt:
    changed = map_numbers(stmt, lambda number: _with_names(number, names))
    if not isinstance(changed, For | ParallelFor | If):
        return changed
    return replace(changed, body=tuple(_renamed(each, names) for each in changed.body))
