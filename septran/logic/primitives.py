"""The standard primitives: what each takes, what it does with it, and what it means.

A primitive is a few statements of the flat IR. The first operand is what it writes. Extents of one
letter are equal: `gemm(C: rw[m,n], A: r[m,k], B: r[k,n])`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from eas.ir.types import F32
from eas.septran.flat.affine import affine
from eas.septran.flat.element_meanings import identity
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
)
from eas.septran.flat.ranges import are_same, known
from eas.septran.logic.leaf_values import (
    Block,
    BlockError,
    LeafTensor,
    broadcast,
    check_product,
    check_storable,
    convert,
    literal_as,
    promote,
    shown,
)
from eas.support.records import frozen, replace

Tensors: TypeAlias = Mapping[str, LeafTensor]
Build: TypeAlias = Callable[[Tensors, float, Origin], tuple[Stmt, ...]]


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
    def build(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
        C, A, B = (tensors[name] for name in "CAB")
        check_product(C.dtype, A.dtype, B.dtype)
        return (Mma(C.view, A.view, B.view, "gemm", transposed, origin),)

    return build


def _fill(tensors: Tensors, number: float, origin: Origin) -> tuple[Stmt, ...]:
    D = tensors["D"]
    return (Fill(D.view, literal_as(number, D.dtype), origin),)


def _copy(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
    return (_stored(tensors["D"], _block(tensors["A"]), origin),)


def _unary(kind: UnaryKind) -> Build:
    def build(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
        block = _block(tensors["A"])
        wide = block if tensors["A"].dtype.is_float else convert(block, F32)
        result = Block(Unary(kind, wide.expr), wide.dtype, wide.shape)
        return (_stored(tensors["D"], result, origin),)

    return build


def _binary(kind: BinaryKind) -> Build:
    def build(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
        result = _computed(kind, _block(tensors["A"]), _block(tensors["B"]))
        return (_stored(tensors["D"], result, origin),)

    return build


def _block(tensor: LeafTensor) -> Block:
    return Block(Operand(tensor.view), tensor.dtype, tensor.view.shape)


def _computed(kind: BinaryKind, left: Block, right: Block) -> Block:
    dtype = promote(left, right)
    assert dtype is not None
    expr = Binary(kind, convert(left, dtype).expr, convert(right, dtype).expr)
    return Block(expr, dtype, broadcast(left.shape, right.shape))


def _stored(target: LeafTensor, block: Block, origin: Origin) -> Stmt:
    check_storable(block.dtype, target.dtype)
    shape = target.view.shape
    if len(block.shape) > len(shape) or not are_same(broadcast(block.shape, shape), shape):
        raise BlockError(f"a block of {shown(block.shape)} in a tile of {shown(shape)}")
    return Map(target.view, convert(block, target.dtype).expr, origin)


def _reduce_rows(kind: ReduceKind) -> Build:
    def build(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
        D, A = tensors["D"], tensors["A"]
        if D.dtype is not A.dtype and not D.dtype.is_float == A.dtype.is_float is True:
            raise BlockError(f"rows of {A.dtype} are reduced to {D.dtype}")
        if A.dtype.is_bool:
            raise BlockError("rows of conditions are no rows of numbers")
        if kind != "add" and known(A.view.shape[1]) == 0:
            raise BlockError(f"the {kind} of no elements has no value")
        because = replace(origin, because=f"a row's {kind} begins with its identity")
        return (
            Fill(D.view, identity(kind, D.dtype), because),
            Reduce(D.view, kind, A.view, 1, origin),
        )

    return build


def _scale_rows(tensors: Tensors, _: float, origin: Origin) -> tuple[Stmt, ...]:
    D, R = tensors["D"], tensors["R"]
    column = Column(R.view) if R.view.rank == 1 else Operand(R.view)
    factors = Block(column, R.dtype, (R.view.shape[0], affine(1)))
    return (_stored(D, _computed("mul", _block(D), factors), origin),)


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
