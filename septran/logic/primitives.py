"""The standard primitives: what each takes, what it does with it, and what it means.

A primitive is a few statements of the flat IR. The first operand is what it writes. Extents of one
letter are equal: `gemm(C: rw[m,n], A: r[m,k], B: r[k,n])`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from eas.ir.types import DType
from eas.septran.flat.elements import identity
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Column,
    Fill,
    Map,
    Mma,
    Operand,
    Origin,
    Privilege,
    Reduce,
    ReduceKind,
    Stmt,
    Transposed,
    Unary,
    UnaryKind,
    View,
)
from eas.support.records import frozen, replace

Views: TypeAlias = Mapping[str, View]
Build: TypeAlias = Callable[[Views, float, DType, Origin], tuple[Stmt, ...]]


@frozen
class Parameter:
    """An operand: its privilege, and letters for its extents (none: of any rank)."""

    name: str
    privilege: Privilege
    dims: tuple[str, ...] = ()


@frozen(eq=False)
class Standard:
    """A standard primitive. `number` is the name of a last argument that is a number, if any."""

    name: str
    parameters: tuple[Parameter, ...]
    doc: str
    build: Build
    number: str = ""

    @property
    def signature(self) -> str:
        """`gemm(C: rw[m,n], A: r[m,k], B: r[k,n])`."""
        parts = [
            f"{each.name}: {each.privilege}" + (f"[{','.join(each.dims)}]" if each.dims else "")
            for each in self.parameters
        ]
        return f"{self.name}({', '.join([*parts, *filter(None, [self.number])])})"


def _product(transposed: Transposed = "") -> Build:
    def build(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
        return (Mma(views["C"], views["A"], views["B"], "gemm", transposed, origin),)

    return build


def _fill(views: Views, number: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
    return (Fill(views["D"], number, origin),)


def _copy(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
    return (Map(views["D"], Operand(views["A"]), origin),)


def _unary(kind: UnaryKind) -> Build:
    def build(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
        return (Map(views["D"], Unary(kind, Operand(views["A"])), origin),)

    return build


def _binary(kind: BinaryKind) -> Build:
    def build(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
        value = Binary(kind, Operand(views["A"]), Operand(views["B"]))
        return (Map(views["D"], value, origin),)

    return build


def _reduce_rows(kind: ReduceKind) -> Build:
    def build(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
        because = replace(origin, because=f"a row's {kind} begins with its identity")
        return (
            Fill(views["D"], identity(kind, dtype), because),
            Reduce(views["D"], kind, views["A"], 1, origin),
        )

    return build


def _scale_rows(views: Views, _: float, dtype: DType, origin: Origin) -> tuple[Stmt, ...]:
    factors = views["R"]
    column = Column(factors) if factors.rank == 1 else Operand(factors)
    return (Map(views["D"], Binary("mul", Operand(views["D"]), column), origin),)


def _gemm(name: str, a: tuple[str, str], b: tuple[str, str], transposed: Transposed) -> Standard:
    parameters = (
        Parameter("C", "rw", ("m", "n")),
        Parameter("A", "r", a),
        Parameter("B", "r", b),
    )
    return Standard(name, parameters, "C += A @ B", _product(transposed))


def _of_elements(name: str, count: int, doc: str, build: Build) -> Standard:
    operands = (Parameter("D", "w"), Parameter("A", "r"), Parameter("B", "r"))
    return Standard(name, operands[: count + 1], doc, build)


def _of_rows(kind: ReduceKind, name: str, doc: str) -> Standard:
    parameters = (Parameter("D", "w", ("m",)), Parameter("A", "r", ("m", "n")))
    return Standard(name, parameters, doc, _reduce_rows(kind))


STANDARD: dict[str, Standard] = {
    each.name: each
    for each in (
        _gemm("gemm", ("m", "k"), ("k", "n"), ""),
        _gemm("gemm_nt", ("m", "k"), ("n", "k"), "b"),
        Standard("fill", (Parameter("D", "w"),), "D = number", _fill, "number"),
        _of_elements("copy", 1, "D = A", _copy),
        _of_elements("add", 2, "D = A + B", _binary("add")),
        _of_elements("mul", 2, "D = A * B", _binary("mul")),
        _of_elements("exp", 1, "D = exp(A)", _unary("exp")),
        _of_elements("gelu", 1, "D = gelu(A)", _unary("gelu")),
        _of_rows("max", "row_max", "D[i] = max(A[i, :])"),
        _of_rows("add", "row_sum", "D[i] = sum(A[i, :])"),
        Standard(
            "scale_rows",
            (Parameter("D", "rw", ("m", "n")), Parameter("R", "r", ("m",))),
            "D[i, :] *= R[i]",
            _scale_rows,
        ),
    )
}
