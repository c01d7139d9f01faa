"""Statements of leaf tasks, as statements of the flat IR on the views that the leaf is given.

    Y[...] = (S - m[:, None]) * mk.rsqrt(v + 1e-5)[:, None]
    C[...] += A @ B
    task.call_primitive("gemm", C, A, B)

A tensor is a whole tile, of its true shape also where the tile is ragged: a leaf has no masks. A
name is what the expression gave where it was assigned, as in Python.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias, cast

from eas.ir.types import BOOL, DTYPES, F32, I32, DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.elements import identity
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Cast,
    Column,
    Const,
    Expr,
    Fill,
    Index,
    Iota,
    Map,
    Mma,
    Operand,
    Origin,
    Reduce,
    ReduceKind,
    Select,
    Stmt,
    Transposed,
    Unary,
    UnaryKind,
    View,
    views_in,
)
from eas.septran.logic import language as task_lang
from eas.septran.logic.errors import (
    UNKNOWN,
    LogicError,
    UnknownValue,
    names_assigned,
    suggest,
    words,
)
from eas.septran.logic.primitives import STANDARD, Standard
from eas.septran.logic.tasks import Task
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import field, frozen, record

MakeTemporary: TypeAlias = Callable[[str, tuple[Affine, ...], DType, Loc], View]


@frozen
class LeafTensor:
    """A tensor argument of a leaf: where it lies, and what it holds."""

    view: View
    dtype: DType


LeafArgument: TypeAlias = LeafTensor | Affine | float


@frozen
class Block:
    """An expression over a block: its elements, their dtype (None for a literal), its shape."""

    expr: Expr
    dtype: DType | None
    shape: tuple[Affine, ...] = ()


@frozen
class Product:
    """`A @ B`, which only a statement can hold: it is added to a tile."""

    left: View
    right: View
    transposed: Transposed
    dtype: DType
    shape: tuple[Affine, ...]


@frozen
class Transposed2D:
    """`A.T`, in front of or behind an `@`."""

    tensor: LeafTensor


@frozen
class Module:
    name: str


def read_leaf(
    task: Task, arguments: dict[str, LeafArgument], make_temporary: MakeTemporary
) -> tuple[Stmt, ...]:
    """The statements of a leaf for its arguments. All mistakes are raised at once."""
    reader = _Reader(task, arguments, make_temporary)
    body = task.body
    for number, node in enumerate(body):
        try:
            reader.statement(node, body[number + 1 :])
        except LogicError as error:
            reader.found += error.diagnostics
            reader.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
        except UnknownValue:
            reader.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
    if reader.found:
        raise LogicError(reader.found)
    return tuple(reader.statements)


_UNARY: dict[str, UnaryKind] = {
    name: name
    for name in (
        "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf",
        "sigmoid", "floor",
    )
}  # fmt: skip
_BINARY: dict[str, BinaryKind] = {"maximum": "max", "minimum": "min", "pow": "pow"}
_REDUCTIONS: dict[str, ReduceKind] = {"sum": "add", "max": "max", "min": "min"}
_FUNCTIONS = (*_UNARY, *_BINARY, *_REDUCTIONS, "where", "arange", "cast")
_OPERATORS: dict[type[ast.AST], BinaryKind] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_COMPARISONS = {"lt", "le", "eq", "ne", "gt", "ge"}
_PLAIN: dict[BinaryKind, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
}


@record
class _Reader:
    task: Task
    variables: dict[str, Any]
    make_temporary: MakeTemporary
    statements: list[Stmt] = field(default_factory=list[Stmt])
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def error(self, code: str, node: ast.AST, message: str, *help: str) -> LogicError:
        loc = self.task.source.loc(node)
        return LogicError([Diagnostic(code, message, loc, help=tuple(help))])

    def origin(self, node: ast.AST, because: str = "") -> Origin:
        return Origin(because or f"`{words(node)}`", None, self.task.source.loc(node))

    def statement(self, node: ast.stmt, rest: list[ast.stmt]) -> None:
        match node:
            case ast.Expr(value=ast.Call() as call):
                self.call_statement(call, rest)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = self.value(value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.write(node, self.target(target), self.value(value), rest)
            case ast.AugAssign(target=ast.Subscript() as target):
                self.augment(node, target, rest)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case _:
                first = words(node).split(":")[0]
                help = "a leaf has assignments to tiles, names, and calls of primitives"
                raise self.error("S801", node, f"`{first}` is no statement of a leaf", help)

    def target(self, node: ast.Subscript) -> LeafTensor:
        tensor = self.variables.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(tensor, LeafTensor):
            raise self.error("S804", node, f"`{words(node.value)}` is no tensor of this task")
        if not _is_everything(node.slice):
            help = "a leaf writes whole tiles: `X[...] = ...`"
            raise self.error("S801", node, f"`{words(node)}` is a part of a tile", help)
        return tensor

    def augment(self, node: ast.AugAssign, target: ast.Subscript, rest: list[ast.stmt]) -> None:
        tensor = self.target(target)
        value = self.value(node.value)
        if isinstance(value, Product) and isinstance(node.op, ast.Add):
            self.settle(tensor.view.buffer, rest)
            self.statements.append(
                Mma(
                    tensor.view,
                    value.left,
                    value.right,
                    "gemm",
                    value.transposed,
                    self.origin(node),
                )
            )
            return
        kind = _OPERATORS.get(type(node.op))
        if kind is None:
            raise self.error("S801", node, f"`{words(node)}` has no meaning for tiles")
        held = Block(Operand(tensor.view), tensor.dtype, tensor.view.shape)
        self.write(node, tensor, self.binary(node, kind, held, self.block(node.value, value)), rest)

    def write(self, node: ast.stmt, tensor: LeafTensor, value: Any, rest: list[ast.stmt]) -> None:
        if isinstance(value, Product):
            self.settle(tensor.view.buffer, rest)
            because = self.origin(node, "a product is added to zero")
            self.statements += [
                Fill(tensor.view, 0.0, because),
                Mma(
                    tensor.view,
                    value.left,
                    value.right,
                    "gemm",
                    value.transposed,
                    self.origin(node),
                ),
            ]
            return
        block = self.block(node, value)
        if len(block.shape) > tensor.view.rank:
            message = f"a block of {len(block.shape)} axes in a tile of {tensor.view.rank}"
            raise self.error("S804", node, message)
        self.check_shapes(node, block.shape, tensor.view.shape)
        self.settle(tensor.view.buffer, rest)
        if isinstance(block.expr, Const):
            self.statements.append(Fill(tensor.view, block.expr.value, self.origin(node)))
            return
        expr = self.converted(block, tensor.dtype).expr
        placed = _with_axes(expr, tensor.view.rank)
        self.statements.append(Map(tensor.view, placed, self.origin(node)))

    def settle(self, buffer: str, rest: list[ast.stmt]) -> None:
        """Before a tile is written, names that were computed from it get their values."""
        used = {each.id for node in rest for each in ast.walk(node) if isinstance(each, ast.Name)}
        for name, value in list(self.variables.items()):
            is_computed = isinstance(value, Block) and not isinstance(value.expr, Const)
            if is_computed and name in used and _reads(value.expr, buffer):
                self.variables[name] = self.materialize(name, value, self.task.source.node)

    def materialize(self, name: str, block: Block, node: ast.AST) -> Block:
        """A block that is computed now, into a tensor of its own."""
        dtype = block.dtype or F32
        view = self.make_temporary(name, block.shape, dtype, self.task.source.loc(node))
        expr = _with_axes(self.converted(block, dtype).expr, len(block.shape))
        self.statements.append(Map(view, expr, self.origin(node, f"`{name}` is used later")))
        return Block(Operand(view), dtype, block.shape)

    def call_statement(self, node: ast.Call, rest: list[ast.stmt]) -> None:
        function = self.value(node.func)
        if function is task_lang.launch:
            message = "a leaf launches nothing"
            raise self.error("S806", node, message, "launch in an inner task: `@task.define`")
        if function is not task_lang.call_primitive:
            raise self.error("S801", node, f"`{words(node)}` has no effect in a leaf")
        if not node.args:
            raise self.error("S804", node, "`task.call_primitive` takes a name and tensors")
        name = self.value(node.args[0])
        primitive = STANDARD.get(name) if isinstance(name, str) else None
        if primitive is None:
            message = f"there is no primitive `{name}`"
            raise self.error("S804", node.args[0], message, *suggest(str(name), STANDARD))
        views, number = self.operands(node, primitive)
        for parameter in primitive.parameters:
            if "w" in parameter.privilege:
                self.settle(views[parameter.name].buffer, rest)
        written = self.value(node.args[1])
        self.statements += primitive.build(views, number, written.dtype, self.origin(node))

    def operands(self, node: ast.Call, primitive: Standard) -> tuple[dict[str, View], float]:
        given = [self.value(each) for each in node.args[1:]]
        wanted = len(primitive.parameters) + bool(primitive.number)
        if len(given) != wanted or node.keywords:
            message = f"`{primitive.name}` takes {wanted} arguments: {primitive.signature}"
            raise self.error("S804", node, message)
        views: dict[str, View] = {}
        extents: dict[str, Affine] = {}
        for parameter, value, at in zip(primitive.parameters, given, node.args[1:], strict=False):
            if not isinstance(value, LeafTensor):
                raise self.error("S804", at, f"`{words(at)}` is no tensor of this task")
            self.check_dims(at, primitive, parameter.dims, value.view.shape, extents)
            views[parameter.name] = value.view
        number = given[-1] if primitive.number else 0.0
        if not isinstance(number, int | float):
            raise self.error("S804", node.args[-1], f"`{words(node.args[-1])}` is no number")
        return views, float(number)

    def check_dims(
        self,
        node: ast.expr,
        primitive: Standard,
        dims: tuple[str, ...],
        shape: tuple[Affine, ...],
        extents: dict[str, Affine],
    ) -> None:
        if not dims:
            return
        if len(shape) == len(dims) + 1 and shape[-1] == affine(1):
            shape = shape[:-1]  # a column for a vector
        if len(shape) != len(dims):
            message = f"`{words(node)}` has {len(shape)} axes: {primitive.signature}"
            raise self.error("S804", node, message)
        for letter, extent in zip(dims, shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                message = (
                    f"`{letter}` of {primitive.signature} is {extents[letter]} before and"
                    f" {extent} in `{words(node)}`"
                )
                raise self.error("S804", node, message)

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self.product(node, self.value(left), self.value(right))
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(node, type(op), self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.arithmetic(node, type(op), self.value(left), self.value(right))
            case ast.UnaryOp():
                return self.unary(node)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=items):
                return tuple(self.value(each) for each in items)
            case _:
                raise self.error("S801", node, f"`{words(node)}` is no expression of a leaf")

    def name(self, node: ast.Name) -> Any:
        if self.variables.get(node.id) is UNKNOWN:
            raise UnknownValue
        for names in (self.variables, self.task.outer_names, vars(builtins)):
            if node.id in names:
                return self.captured(node, names[node.id])
        known = {*self.variables, *self.task.outer_names}
        message = f"the name `{node.id}` is not defined"
        raise self.error("S802", node, message, *suggest(node.id, known))

    def captured(self, node: ast.expr, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return value
        is_ours = isinstance(value, LeafTensor | Block | Product | Transposed2D | Affine)
        is_plain = isinstance(value, bool | int | float | str | DType)
        if is_ours or is_plain or getattr(value, "__module__", "") == task_lang.__name__:
            return value
        if callable(value):
            return value
        raise self.error("S801", node, f"`{words(node)}` cannot be used in a leaf")

    def attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        match owner:
            case LeafTensor() if node.attr == "shape":
                return tuple(owner.view.shape)
            case LeafTensor() if node.attr == "dtype":
                return owner.dtype
            case LeafTensor() if node.attr == "T" and owner.view.rank == 2:
                return Transposed2D(owner)
            case ModuleType() if hasattr(owner, node.attr):
                return self.captured(node, getattr(owner, node.attr))
            case ModuleType():
                message = f"`{words(node.value)}` has no `{node.attr}`"
                raise self.error("S802", node, message, *suggest(node.attr, dir(owner)))
            case _:
                raise self.error("S801", node, f"`{words(node)}` is no expression of a leaf")

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, tuple):
            items = cast(tuple[Any, ...], owner)
            index = self.value(node.slice)
            if isinstance(index, int) and -len(items) <= index < len(items):
                return items[index]
            raise self.error("S804", node, f"`{words(node)}`: there are {len(items)} of them")
        block = self.block(node.value, owner)
        if _is_everything(node.slice):
            return owner
        match node.slice:
            case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), last]) if (
                _is_none(last) and len(block.shape) == 1
            ):
                return Block(_as_column(block.expr), block.dtype, (*block.shape, affine(1)))
            case ast.Tuple(elts=[first, ast.Slice(lower=None, upper=None, step=None)]) if (
                _is_none(first) and len(block.shape) == 1
            ):
                return Block(block.expr, block.dtype, (affine(1), *block.shape))
            case _:
                help = "blocks are used whole, or as `x[:, None]` and `x[None, :]`"
                raise self.error("S801", node, f"`{words(node)}` is a part of a tile", help)

    def block(self, node: ast.AST, value: Any) -> Block:
        match value:
            case Block():
                return value
            case LeafTensor():
                return Block(Operand(value.view), value.dtype, value.view.shape)
            case Affine():
                return Block(Index(value), I32)
            case bool():
                return Block(Const(value, BOOL), BOOL)
            case int() | float():
                if value != value:
                    raise self.error("S804", node, "NaN is no constant of a task")
                return Block(Const(value, F32), None)
            case Product():
                message = "a product is a statement of its own"
                raise self.error("S801", node, message, "write `C[...] += A @ B`")
            case _:
                raise self.error("S804", node, f"`{words(node)}` is no number or tensor")

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(node.op, ast.USub):
            if is_number or isinstance(value, Affine):
                return -value
            block = self.block(node, value)
            return Block(Unary("neg", block.expr), block.dtype, block.shape)
        block = self.block(node, value)
        if isinstance(node.op, ast.Invert | ast.Not) and block.dtype is BOOL:
            return Block(Unary("not", block.expr), BOOL, block.shape)
        raise self.error("S804", node, f"`{words(node)}` has no meaning for a block")

    def arithmetic(self, node: ast.AST, op: type[ast.AST], left: Any, right: Any) -> Any:
        kind = _OPERATORS.get(op)
        if kind is None:
            raise self.error("S801", node, f"`{words(node)}` has no meaning for tiles")
        are_plain = all(isinstance(each, int | float) for each in (left, right))
        if are_plain and kind in _PLAIN:
            try:
                return _PLAIN[kind](left, right)
            except (ZeroDivisionError, OverflowError) as error:
                raise self.error("S805", node, f"`{words(node)}`: {error}") from error
        are_integers = all(isinstance(each, int | Affine) for each in (left, right))
        if are_integers and kind in ("add", "sub", "mul"):
            return _PLAIN[kind](affine(left), affine(right))
        return self.binary(node, kind, self.block(node, left), self.block(node, right))

    def binary(self, node: ast.AST, kind: BinaryKind, left: Block, right: Block) -> Block:
        dtype = _promoted(left.dtype, right.dtype)
        if kind in ("and", "or"):
            if dtype is not BOOL:
                raise self.error("S804", node, f"`{words(node)}` combines no conditions")
        elif dtype is BOOL:
            raise self.error("S804", node, f"`{words(node)}` computes with conditions")
        elif kind in ("div", "pow") and (dtype is None or not dtype.is_float):
            dtype = F32
        shape = self.broadcast(node, left.shape, right.shape)
        wide = dtype or F32
        expr = Binary(kind, self.converted(left, wide).expr, self.converted(right, wide).expr)
        return Block(expr, BOOL if kind in _COMPARISONS else dtype, shape)

    def converted(self, block: Block, dtype: DType) -> Block:
        if block.dtype is dtype:
            return block
        if isinstance(block.expr, Const):
            value = block.expr.value
            number = float(value) if dtype.is_float else (bool if dtype.is_bool else int)(value)
            return Block(Const(number, dtype), dtype, block.shape)
        if block.dtype is None and dtype is F32:
            return Block(block.expr, dtype, block.shape)
        return Block(Cast(dtype, block.expr), dtype, block.shape)

    def broadcast(
        self, node: ast.AST, a: tuple[Affine, ...], b: tuple[Affine, ...]
    ) -> tuple[Affine, ...]:
        rank, one = max(len(a), len(b)), affine(1)
        a, b = (one,) * (rank - len(a)) + a, (one,) * (rank - len(b)) + b
        for left, right in zip(a, b, strict=True):
            if left != right and one not in (left, right):
                raise self.error("S804", node, f"{_shown(a)} and {_shown(b)} do not broadcast")
        return tuple(r if left == one else left for left, r in zip(a, b, strict=True))

    def check_shapes(
        self, node: ast.AST, given: tuple[Affine, ...], wanted: tuple[Affine, ...]
    ) -> None:
        if self.broadcast(node, given, wanted) != wanted:
            message = f"a block of {_shown(given)} in a tile of {_shown(wanted)}"
            raise self.error("S804", node, message)

    def product(self, node: ast.AST, left: Any, right: Any) -> Product:
        sides: list[View] = []
        flags = ""
        for side, value in (("a", left), ("b", right)):
            flags += side if isinstance(value, Transposed2D) else ""
            tensor = value.tensor if isinstance(value, Transposed2D) else value
            if not isinstance(tensor, LeafTensor) or tensor.view.rank != 2:
                help = "compute it into a tile first"
                raise self.error("S804", node, "the factors of `@` are tiles of two axes", help)
            sides.append(tensor.view)
        transposed: Transposed = flags  # pyright: ignore[reportAssignmentType]
        m, k = sides[0].shape if "a" not in flags else sides[0].shape[::-1]
        other, n = sides[1].shape if "b" not in flags else sides[1].shape[::-1]
        if k != other:
            raise self.error("S804", node, f"`{words(node)}`: {k} columns and {other} rows")
        dtype = left.tensor.dtype if isinstance(left, Transposed2D) else left.dtype
        return Product(sides[0], sides[1], transposed, dtype, (m, n))

    def call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        name = getattr(function, "__name__", "")
        if getattr(function, "__module__", "") != "eas.language":
            message = f"`{words(node.func)}` cannot be called in a leaf"
            help = suggest(name, _FUNCTIONS) or ("use the functions of `mk`",)
            raise self.error("S801", node, message, *help)
        if name in _UNARY and len(node.args) == 1:
            block = self.block(node, self.value(node.args[0]))
            wide = block if block.dtype is not None and block.dtype.is_float else None
            wide = wide or self.converted(block, F32)
            return Block(Unary(_UNARY[name], wide.expr), wide.dtype, block.shape)
        if name in _BINARY and len(node.args) == 2:
            left, right = (self.block(node, self.value(each)) for each in node.args)
            return self.binary(node, _BINARY[name], left, right)
        if name in _REDUCTIONS:
            return self.reduction(node, _REDUCTIONS[name])
        if name == "where" and len(node.args) == 3:
            return self.where(node)
        if name == "arange" and len(node.args) == 2:
            return self.arange(node)
        if name == "cast" and len(node.args) == 2:
            dtype = self.value(node.args[1])
            dtype = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
            if not isinstance(dtype, DType):
                raise self.error("S804", node, f"`{words(node.args[1])}` is no dtype")
            return self.converted(self.block(node, self.value(node.args[0])), dtype)
        if name in _FUNCTIONS:
            message = f"`{words(node.func)}` takes other arguments in a leaf"
            raise self.error("S801", node, message)
        message = f"`{words(node.func)}` is no function of a leaf"
        help = f"a leaf has operators, and of `mk`: {', '.join(_FUNCTIONS)}"
        raise self.error("S801", node, message, help)

    def reduction(self, node: ast.Call, kind: ReduceKind) -> Block:
        axes = [self.value(each.value) for each in node.keywords if each.arg == "axis"]
        axes += [self.value(each) for each in node.args[1:2]]
        block = self.block(node, self.value(node.args[0])) if node.args else None
        if block is None or len(axes) != 1 or not isinstance(axes[0], int):
            raise self.error("S804", node, f"`{words(node)}` takes a block and an `axis`")
        rank = len(block.shape)
        if not -rank <= axes[0] < rank or rank < 2:
            raise self.error("S804", node, f"axis {axes[0]} of a block of {rank} axes")
        axis = axes[0] % rank
        source = block
        if not isinstance(block.expr, Operand):
            source = self.materialize("reduced", block, node)
        assert isinstance(source.expr, Operand)
        assert source.dtype is not None
        shape = tuple(extent for n, extent in enumerate(block.shape) if n != axis)
        target = self.make_temporary("total", shape, source.dtype, self.task.source.loc(node))
        begin = self.origin(node, "a reduction begins with its identity")
        self.statements += [
            Fill(target, identity(kind, source.dtype), begin),
            Reduce(target, kind, source.expr.view, axis, self.origin(node)),
        ]
        return Block(Operand(target), source.dtype, shape)

    def where(self, node: ast.Call) -> Block:
        condition, yes, no = (self.block(node, self.value(each)) for each in node.args)
        if condition.dtype is not BOOL:
            raise self.error("S804", node.args[0], f"`{words(node.args[0])}` is no condition")
        dtype = _promoted(yes.dtype, no.dtype) or F32
        shape = self.broadcast(node, self.broadcast(node, yes.shape, no.shape), condition.shape)
        expr = Select(
            condition.expr, self.converted(yes, dtype).expr, self.converted(no, dtype).expr
        )
        return Block(expr, dtype, shape)

    def arange(self, node: ast.Call) -> Block:
        first, last = (self.value(each) for each in node.args)
        if first != 0 or not isinstance(last, int | Affine):
            help = "count along an axis: `mk.arange(0, X.shape[0])`"
            raise self.error("S804", node, f"`{words(node)}` is no range of an axis", help)
        return Block(Iota(-1), I32, (affine(last),))


def _is_everything(node: ast.expr) -> bool:
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    plain = ast.Slice(None, None, None)
    return all(
        (isinstance(each, ast.Constant) and each.value is Ellipsis)
        or ast.dump(each) == ast.dump(plain)
        for each in items
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _reads(expr: Expr, buffer: str) -> bool:
    return any(view.buffer == buffer for view in views_in(expr))


def _promoted(left: DType | None, right: DType | None) -> DType | None:
    """The dtype of two operands: a literal takes the other's, a float wins, the wider wins."""
    if left is None or right is None or left is right:
        return left or right
    if left.is_float != right.is_float:
        return left if left.is_float else right
    if left.bits == right.bits == 16:
        return F32  # f16 and bf16
    return left if left.bits >= right.bits else right


def _shown(shape: tuple[Affine, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _as_column(expr: Expr) -> Expr:
    """An expression over one axis, as one over rows: its axis is the next to last."""
    match expr:
        case Operand(view) if view.rank == 1:
            return Column(view)
        case Iota():
            return Iota(-2)
        case _:
            return _rebuilt(expr, _as_column)


def _with_axes(expr: Expr, rank: int) -> Expr:
    """An expression whose positions count the axes of the destination."""
    if isinstance(expr, Iota):
        return Iota(expr.axis + rank if expr.axis < 0 else expr.axis)
    return _rebuilt(expr, lambda each: _with_axes(each, rank))


def _rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    match expr:
        case Unary(kind, operand):
            return Unary(kind, change(operand))
        case Cast(dtype, operand):
            return Cast(dtype, change(operand))
        case Binary(kind, left, right):
            return Binary(kind, change(left), change(right))
        case Select(condition, yes, no):
            return Select(change(condition), change(yes), change(no))
        case _:
            return expr
