"""Expressions of leaf tasks, as expressions of the flat IR over blocks of a tile's shape."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import Any, TypeAlias, cast

from eas.ir.ops.reduce import accumulator
from eas.ir.types import BOOL, DTYPES, F32, I32, DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.element_meanings import identity
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Const,
    Fill,
    Index,
    Iota,
    Map,
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
)
from eas.septran.flat.ranges import is_same, known
from eas.septran.logic import language as task_lang
from eas.septran.logic.arguments_by_name import arguments_of
from eas.septran.logic.errors import (
    UNKNOWN,
    LogicError,
    UnknownValue,
    no_member,
    not_defined,
    power,
    words,
)
from eas.septran.logic.leaf_values import (
    Block,
    BlockError,
    LeafTensor,
    Product,
    Transposed2D,
    broadcast,
    column_of,
    convert,
    promote,
    row_of,
    with_axes,
)
from eas.septran.logic.tasks import Task
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import field, record

Aliases: TypeAlias = Mapping[str, Collection[str]]  # buffers that share elements with one
MakeTemporary: TypeAlias = Callable[[str, tuple[Affine, ...], DType, Loc], View]

_UNARY: dict[str, UnaryKind] = {
    name: name
    for name in (
        "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf",
        "sigmoid", "floor",
    )
}  # fmt: skip
_BINARY: dict[str, BinaryKind] = {"maximum": "max", "minimum": "min", "pow": "pow"}
_REDUCTIONS: dict[str, ReduceKind] = {"sum": "add", "max": "max", "min": "min"}
FUNCTIONS = (*_UNARY, *_BINARY, *_REDUCTIONS, "where", "arange", "cast")
OPERATORS: dict[type[ast.AST], BinaryKind] = {
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
    "pow": power,
}


@record
class Expressions:
    """Reads expressions; what has to be computed first becomes statements."""

    task: Task
    variables: dict[str, Any]
    make_temporary: MakeTemporary
    aliases: Aliases
    statements: list[Stmt] = field(default_factory=list[Stmt])
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def error(self, code: str, node: ast.AST, message: str, *help: str) -> LogicError:
        loc = self.task.source.loc(node)
        return LogicError([Diagnostic(code, message, loc, help=tuple(help))])

    def origin(self, node: ast.AST, because: str = "") -> Origin:
        return Origin(because or f"`{words(node)}`", None, self.task.source.loc(node))

    def value(self, node: ast.expr) -> Any:
        try:
            return self.lower(node)
        except BlockError as error:
            raise self.error("S804", node, f"`{words(node)}`: {error}", *error.help) from error

    def lower(self, node: ast.expr) -> Any:
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
                message = f"`{words(node)}` is no expression of a leaf"
                raise self.error("S801", node, message, *_instead(node))

    def name(self, node: ast.Name) -> Any:
        if self.variables.get(node.id) is UNKNOWN:
            raise UnknownValue
        for names in (self.variables, self.task.outer_names, vars(builtins)):
            if node.id in names:
                return self.captured(node, names[node.id])
        names = {*self.variables, *self.task.outer_names}
        raise self.error("S802", node, *not_defined(node.id, names))

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
                raise self.error("S802", node, *no_leaf_function(owner, node))
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
        if is_everything(node.slice):
            return owner
        match node.slice:
            case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), last]) if (
                _is_none(last) and len(block.shape) == 1
            ):
                return column_of(block)
            case ast.Tuple(elts=[first, ast.Slice(lower=None, upper=None, step=None)]) if (
                _is_none(first) and len(block.shape) == 1
            ):
                return row_of(block)
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
                if isinstance(value, int) and value.bit_length() > 1023:
                    raise self.error("S804", node, "this number is too large")
                return Block(Const(value, F32), None)
            case Product():
                message = "a product is a statement of its own"
                raise self.error("S801", node, message, "write `C[...] += A @ B`")
            case Transposed2D():
                message = f"`{words(node)}`: a transposed tile is a factor of a product only"
                raise self.error("S804", node, message, "write `C[...] += A.T @ B`")
            case _:
                raise self.error("S804", node, f"`{words(node)}` is no number or tensor")

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(node.op, ast.USub):
            if is_number or isinstance(value, Affine):
                return -value
            block = self.block(node, value)
            if block.dtype is BOOL:
                raise self.error("S804", node, f"`{words(node)}` computes with conditions")
            return Block(Unary("neg", block.expr), block.dtype, block.shape)
        block = self.block(node, value)
        if isinstance(node.op, ast.Invert | ast.Not) and block.dtype is BOOL:
            return Block(Unary("not", block.expr), BOOL, block.shape)
        raise self.error("S804", node, f"`{words(node)}` has no meaning for a block")

    def arithmetic(self, node: ast.AST, op: type[ast.AST], left: Any, right: Any) -> Any:
        kind = OPERATORS.get(op)
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
        dtype = promote(left, right)
        if kind in ("and", "or"):
            if dtype is not BOOL:
                raise self.error("S804", node, f"`{words(node)}` combines no conditions")
        elif dtype is BOOL:
            raise self.error("S804", node, f"`{words(node)}` computes with conditions")
        elif kind == "pow" and (power := _integer_power(left, right)) is not None:
            return power
        elif kind in ("div", "pow") and (dtype is None or not dtype.is_float):
            dtype = F32
        shape = broadcast(left.shape, right.shape)
        wide = dtype or F32
        expr = Binary(kind, convert(left, wide).expr, convert(right, wide).expr)
        return Block(expr, BOOL if kind in _COMPARISONS else dtype, shape)

    def product(self, node: ast.AST, left: Any, right: Any) -> Product:
        sides: list[View] = []
        dtypes: list[DType] = []
        flags = ""
        for side, value in (("a", left), ("b", right)):
            flags += side if isinstance(value, Transposed2D) else ""
            tensor = value.tensor if isinstance(value, Transposed2D) else value
            if not isinstance(tensor, LeafTensor) or tensor.view.rank != 2:
                help = "compute it into a tile first"
                raise self.error("S804", node, "the factors of `@` are tiles of two axes", help)
            sides.append(tensor.view)
            dtypes.append(tensor.dtype)
        transposed: Transposed = flags  # pyright: ignore[reportAssignmentType]
        m, k = sides[0].shape if "a" not in flags else sides[0].shape[::-1]
        other, n = sides[1].shape if "b" not in flags else sides[1].shape[::-1]
        if not is_same(k, other):
            raise self.error("S804", node, f"`{words(node)}`: {k} columns and {other} rows")
        return Product(sides[0], sides[1], transposed, (dtypes[0], dtypes[1]), (m, n))

    def call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        name = getattr(function, "__name__", "")
        if getattr(function, "__module__", "") != "eas.language":
            message = f"`{words(node.func)}` cannot be called in a leaf"
            raise self.error("S801", node, message, *_instead_of_call(node, name))
        if name not in FUNCTIONS:
            message = f"`{words(node.func)}` is no function of a leaf"
            raise self.error("S801", node, message, *_instead_of_call(node, name))
        parameters = inspect.signature(function).parameters
        required = [each for each in parameters.values() if each.default is each.empty]
        given = arguments_of(self, node, tuple(parameters), len(required))
        return self.compute(node, name, given)

    def compute(self, node: ast.Call, name: str, given: Mapping[str, ast.expr]) -> Block:
        """What a function of `mk` gives for its arguments, which have the names they have there."""
        match name:
            case "where":
                return self.where(node, given)
            case "arange":
                return self.arange(node, self.value(given["start"]), self.value(given["stop"]))
            case "cast":
                dtype = self.value(given["dtype"])
                dtype = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
                if not isinstance(dtype, DType):
                    raise self.error("S804", node, f"`{words(given['dtype'])}` is no dtype")
                return convert(self.block(node, self.value(given["a"])), dtype)
            case _ if name in _REDUCTIONS:
                return self.reduction(node, _REDUCTIONS[name], given)
            case _ if name in _BINARY:
                left, right = (self.block(node, self.value(given[each])) for each in "ab")
                return self.binary(node, _BINARY[name], left, right)
            case _:
                block = self.block(node, self.value(given["a"]))
                is_float = block.dtype is not None and block.dtype.is_float
                wide = block if is_float else convert(block, F32)
                return Block(Unary(_UNARY[name], wide.expr), wide.dtype, block.shape)

    def reduction(self, node: ast.Call, kind: ReduceKind, given: Mapping[str, ast.expr]) -> Block:
        axis = self.value(given["axis"]) if "axis" in given else None
        keeps = self.value(given["keep_dims"]) if "keep_dims" in given else False
        if not isinstance(axis, int):
            help = "`axis=1` is for each row, `axis=0` for each column"
            message = f"`{words(node)}` takes a block and an `axis`, which is a number"
            raise self.error("S804", node, message, help)
        if not isinstance(keeps, bool):
            raise self.error("S804", node, f"`{words(node)}`: `keep_dims` is True or False")
        block = self.block(node, self.value(given["a"]))
        rank = len(block.shape)
        if not -rank <= axis < rank or rank < 2:
            raise self.error("S804", node, f"axis {axis} of a block of {rank} axes")
        axis = axis % rank
        if keeps and axis > 0 and rank > 2:
            message = f"`{words(node)}`: `keep_dims` is for blocks of two axes, and for axis 0"
            raise self.error("S804", node, message)
        if kind != "add" and known(block.shape[axis]) == 0:
            raise self.error("S804", node, f"`{words(node)}` of no elements has no value")
        assert block.dtype is not None
        if kind != "add" and block.dtype is BOOL:
            raise self.error("S804", node, f"`{words(node)}` compares conditions")
        source = convert(block, accumulator(block.dtype)) if kind == "add" else block
        if not isinstance(source.expr, Operand):
            source = self.materialize("reduced", source, node)
        assert isinstance(source.expr, Operand)
        assert source.dtype is not None
        shape = tuple(extent for n, extent in enumerate(block.shape) if n != axis)
        target = self.make_temporary("total", shape, source.dtype, self.task.source.loc(node))
        begin = self.origin(node, "a reduction begins with its identity")
        self.statements += [
            Fill(target, identity(kind, source.dtype), begin),
            Reduce(target, kind, source.expr.view, axis, self.origin(node)),
        ]
        total = Block(Operand(target), source.dtype, shape)
        if not keeps:
            return total
        return column_of(total) if axis > 0 else row_of(total)

    def where(self, node: ast.Call, given: Mapping[str, ast.expr]) -> Block:
        names = ("condition", "a", "b")
        condition, yes, no = (self.block(node, self.value(given[each])) for each in names)
        if condition.dtype is not BOOL:
            at = given["condition"]
            raise self.error("S804", at, f"`{words(at)}` is no condition")
        dtype = promote(yes, no) or F32
        shape = broadcast(broadcast(yes.shape, no.shape), condition.shape)
        expr = Select(condition.expr, convert(yes, dtype).expr, convert(no, dtype).expr)
        return Block(expr, dtype, shape)

    def arange(self, node: ast.Call, first: Any, last: Any) -> Block:
        if first != 0 or not isinstance(last, int | Affine):
            help = "count along an axis: `mk.arange(0, X.shape[0])`"
            raise self.error("S804", node, f"`{words(node)}` is no range of an axis", help)
        return Block(Iota(-1), I32, (affine(last),))

    def materialize(self, name: str, block: Block, node: ast.AST) -> Block:
        """A block that is computed now, into a tensor of its own."""
        dtype = block.dtype or F32
        view = self.make_temporary(name, block.shape, dtype, self.task.source.loc(node))
        expr = with_axes(convert(block, dtype).expr, len(block.shape))
        self.statements.append(Map(view, expr, self.origin(node, f"`{name}` is used later")))
        return Block(Operand(view), dtype, block.shape)


_FOR_MEAN = "write `mk.sum(x, axis=1) / x.shape[1]`"
_MERGED = {"max": "maximum", "min": "minimum", "fmax": "maximum", "fmin": "minimum"}


def no_leaf_function(owner: ModuleType, node: ast.Attribute) -> tuple[str, ...]:
    """What is said of a function that a module does not have, in a leaf."""
    known = FUNCTIONS if owner.__name__ == "eas.language" else dir(owner)
    message, *help = no_member(words(node.value), node.attr, known)
    return message, *((_FOR_MEAN,) if node.attr == "mean" else help)


def _instead_of_call(node: ast.Call, name: str) -> tuple[str, ...]:
    """What to write for a function that a leaf does not have."""
    values = [words(each) for each in node.args]
    if name in _MERGED and len(values) == 2:
        return (f"write `mk.{_MERGED[name]}({', '.join(values)})`",)
    if name == "mean":
        return (_FOR_MEAN,)
    if name in FUNCTIONS:
        return (f"write `mk.{name}`",)
    return (f"a leaf has operators, and of `mk`: {', '.join(FUNCTIONS)}",)


def _instead(node: ast.expr) -> tuple[str, ...]:
    """What to write for conditions that Python decides once, not for each element."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=other):
            return (f"write `mk.where({words(test)}, {words(body)}, {words(other)})`",)
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = zip([left, *others], ops, others, strict=False)
            parts = [f"({words(ast.Compare(a, [op], [b]))})" for a, op, b in pairs]
            return (f"write `{' & '.join(parts)}`",)
        case ast.BoolOp(op=op, values=values):
            sign = " & " if isinstance(op, ast.And) else " | "
            return (f"write `{sign.join(f'({words(each)})' for each in values)}`",)
        case _:
            return ()


def _integer_power(base: Block, exponent: Block) -> Block | None:
    """An integer to the power of a small literal, which is an integer, too."""
    is_literal = exponent.dtype is None and isinstance(exponent.expr, Const)
    if base.dtype is None or not base.dtype.is_int or not is_literal:
        return None
    power = exponent.expr.value if isinstance(exponent.expr, Const) else 0
    if not isinstance(power, int) or not 1 <= power <= 8:
        return None
    expr = base.expr
    for _ in range(power - 1):
        expr = Binary("mul", expr, base.expr)
    return Block(expr, base.dtype, base.shape)


def is_everything(node: ast.expr) -> bool:
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    plain = ast.Slice(None, None, None)
    return all(
        (isinstance(each, ast.Constant) and each.value is Ellipsis)
        or ast.dump(each) == ast.dump(plain)
        for each in items
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
