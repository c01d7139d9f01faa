"""Which primitive of the machine computes a product, and whether it can."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from eas.septran.files import Machine
from eas.septran.files.complaints import Complaints
from eas.septran.files.machine import Primitive
from eas.septran.flat.nodes import Mma
from eas.septran.lowering.checks import names_of
from eas.support.location import Loc
from eas.support.records import frozen


@frozen
class Wanted:
    """A product of full tiles: its extents, which of them are whole axes, the factors' dtypes.

    `results` has the dtype that it is added to first, and what that may become.
    """

    stmt: Mma
    extents: Mapping[str, int]
    axes: Collection[str]
    dtypes: Collection[str]
    results: Sequence[str]
    proc: str  # the level that computes it
    numbers: Mapping[str, int]  # of the mapping, by their names


def choose_primitive(
    machine: Machine, wanted: Wanted, bound: str | None, loc: Loc, complaints: Complaints
) -> str:
    """The primitive that the mapping binds, or the machine's first one that fits (S501)."""
    if bound is not None:
        found = machine.primitive(bound)
        if found is None:
            return bound  # of a project's own file, which says nothing about shapes
        operation, primitive = found
        if operation != "gemm":
            message = f"`{bound}` computes `{operation}`, and this leaf a product"
            complaints.add("S501", message, loc)
        elif (why := _trouble(primitive, wanted)) is not None:
            complaints.add("S501", f"`{bound}` {why}", loc)
        return bound
    tried: list[str] = []
    for primitive in machine.primitives.get("gemm", []):
        why = _trouble(primitive, wanted)
        if why is None:
            return primitive.name
        tried.append(f"`{primitive.name}` {why}")
    if "gemm" not in machine.primitives:
        named = ", ".join(f"`{name}`" for name in machine.primitives) or "nothing"
        tried = [f"its `primitives` have no `gemm`, but {named}"]
    message = f"no primitive of `{machine.name}` computes this product"
    complaints.add("S501", message, loc, notes=tried)
    return "gemm"


def _trouble(primitive: Primitive, wanted: Wanted) -> str | None:
    """Why a primitive cannot compute a product of full tiles, if it cannot."""
    stmt, extents = wanted.stmt, wanted.extents
    for dtype in wanted.dtypes:
        if primitive.dtypes and dtype not in primitive.dtypes:
            return f"multiplies {' or '.join(primitive.dtypes)}, and this product {dtype}"
    if primitive.results and not any(each in primitive.results for each in wanted.results):
        found = f"{wanted.results[0]} in {stmt.target.memory}"
        return f"adds to {' or '.join(primitive.results)}, and this product to {found}"
    if primitive.procs and wanted.proc not in primitive.procs:
        return f"runs on {' or '.join(primitive.procs)}, and this product on {wanted.proc}"
    for letter, multiple in primitive.shape.items():
        if primitive.tails == "partial" and letter in wanted.axes:
            continue
        if extents.get(letter, multiple) % multiple:
            names = names_of(extents[letter], wanted.numbers)
            shown = f" (here {', '.join(names)})" if names else ""
            found = f"{extents[letter]}{shown}"
            return f"takes multiples of {multiple} for `{letter}`, and it is {found}"
    for operand, view in (("C", stmt.target), ("A", stmt.left), ("B", stmt.right)):
        allowed = primitive.mems.get(operand)
        if allowed and view.memory not in allowed:
            return f"takes `{operand}` in {' or '.join(allowed)}, and it is in {view.memory}"
    return None
