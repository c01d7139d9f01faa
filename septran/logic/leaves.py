"""Statements of leaf tasks, as statements of the flat IR on the views that the leaf is given.

    Y[...] = (S - m[:, None]) * mk.rsqrt(v + 1e-5)[:, None]
    C[...] += A @ B
    task.call_primitive("gemm", C, A, B)

A tensor is a whole tile, of its true shape also where the tile is ragged: a leaf has no masks. A
name is what the expression gave where it was assigned, as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import Const, Fill, Map, Mma, Operand, Stmt, View, accesses
from eas.septran.flat.ranges import are_same, is_same
from eas.septran.logic import language as task_lang
from eas.septran.logic.errors import (
    UNKNOWN,
    LogicError,
    UnknownValue,
    names_assigned,
    no_primitive,
    words,
)
from eas.septran.logic.leaf_expressions import (
    OPERATORS,
    Aliases,
    Expressions,
    MakeTemporary,
    is_everything,
)
from eas.septran.logic.leaf_values import (
    Block,
    BlockError,
    LeafTensor,
    Product,
    broadcast,
    check_product,
    check_storable,
    convert,
    literal_as,
    reads_buffer,
    shown,
    with_axes,
)
from eas.septran.logic.primitives import STANDARD, Standard, Tensors
from eas.septran.logic.tasks import Task
from eas.support.records import record

LeafArgument: TypeAlias = LeafTensor | Affine | float


def read_leaf(
    task: Task,
    arguments: dict[str, LeafArgument],
    make_temporary: MakeTemporary,
    aliases: Aliases | None = None,
) -> tuple[Stmt, ...]:
    """The statements of a leaf for its arguments. All mistakes are raised at once.

    What is written to a buffer changes its `aliases`, too, or would if they were no copies.
    """
    reader = _Reader(task, arguments, make_temporary, aliases or {})
    body = task.body
    for number, node in enumerate(body):
        try:
            reader.read(node, body[number + 1 :])
        except LogicError as error:
            reader.found += error.diagnostics
            reader.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
        except UnknownValue:
            reader.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
    if reader.found:
        raise LogicError(reader.found)
    return tuple(reader.statements)


@record
class _Reader(Expressions):
    """Reads statements."""

    def read(self, node: ast.stmt, rest: list[ast.stmt]) -> None:
        """Read a statement; those after it say which names are still needed."""
        try:
            self.statement(node, rest)
        except BlockError as error:
            raise self.error("S804", node, f"`{words(node)}`: {error}", *error.help) from error

    def statement(self, node: ast.stmt, rest: list[ast.stmt]) -> None:
        match node:
            case ast.Expr(value=ast.Call() as call):
                self.call_statement(call, rest)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.give_name(node, name, self.value(value), rest)
            case ast.AugAssign(target=ast.Name(id=name)):
                held = ast.copy_location(ast.Name(name, ast.Load()), node.target)
                value = ast.copy_location(ast.BinOp(held, node.op, node.value), node)
                self.give_name(node, name, self.value(value), rest)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.write(node, self.target(target), self.value(value), rest)
            case ast.AugAssign(target=ast.Subscript() as target):
                self.augment(node, target, rest)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case _:
                first = words(node).split(":")[0]
                help = "a leaf has assignments to tiles, names, and calls of primitives"
                if isinstance(node, ast.If):
                    help = f"choose for each element: `mk.where({words(node.test)}, a, b)`"
                raise self.error("S801", node, f"`{first}` is no statement of a leaf", help)

    def give_name(self, node: ast.stmt, name: str, value: Any, rest: list[ast.stmt]) -> None:
        """Give a value a name. One that hides a parameter, and is not used, was to be written.

        `Y += x` changes a tensor in place in Python, so it is no new value of `Y`.
        """
        is_changed = isinstance(node, ast.AugAssign)
        is_hidden = name in self.task.parameters and name not in _names_in(rest)
        if isinstance(self.variables.get(name), LeafTensor) and (is_changed or is_hidden):
            what = "parameter" if name in self.task.parameters else "tensor"
            message = f"`{name}` is a {what}, and `{words(node)}` writes no elements of it"
            text = words(node).replace(name, f"{name}[...]", 1)
            raise self.error("S804", node, message, f"write `{text}`")
        self.variables[name] = value

    def target(self, node: ast.Subscript) -> LeafTensor:
        tensor = self.variables.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if tensor is UNKNOWN:
            raise UnknownValue
        if not isinstance(tensor, LeafTensor):
            is_hidden = words(node.value) in self.task.parameters
            help = "the name was given another value before: use another name there"
            message = f"`{words(node.value)}` is no tensor of this task"
            raise self.error("S804", node, message, *([help] if is_hidden else []))
        if not is_everything(node.slice):
            help = "a leaf writes whole tiles: `X[...] = ...`"
            raise self.error("S801", node, f"`{words(node)}` is a part of a tile", help)
        return tensor

    def augment(self, node: ast.AugAssign, target: ast.Subscript, rest: list[ast.stmt]) -> None:
        tensor = self.target(target)
        value = self.value(node.value)
        if isinstance(value, Product) and isinstance(node.op, ast.Add):
            self.settle(tensor.view.buffer, rest)
            self.multiply(node, tensor, value)
            return
        kind = OPERATORS.get(type(node.op))
        if kind is None:
            raise self.error("S801", node, f"`{words(node)}` has no meaning for tiles")
        held = Block(Operand(tensor.view), tensor.dtype, tensor.view.shape)
        self.write(node, tensor, self.binary(node, kind, held, self.block(node.value, value)), rest)

    def multiply(self, node: ast.stmt, tensor: LeafTensor, product: Product) -> None:
        """Add a product to a tile."""
        check_product(tensor.dtype, *product.dtypes)
        if not are_same(product.shape, tensor.view.shape):
            message = f"a product of {shown(product.shape)} in a tile of {shown(tensor.view.shape)}"
            raise self.error("S804", node, message)
        sides = product.left, product.right
        self.check_factors(node, tensor, sides)
        origin = self.origin(node)
        self.statements.append(Mma(tensor.view, *sides, "gemm", product.transposed, origin))

    def check_factors(self, node: ast.AST, tensor: LeafTensor, factors: Iterable[View]) -> None:
        """Raise an error if a product is written over one of its factors."""
        if any(each.buffer == tensor.view.buffer for each in factors):
            message = f"`{words(node)}`: the product is written over one of its factors"
            help = "give the product a tensor of its own: `task.local`"
            raise self.error("S804", node, message, help)

    def write(self, node: ast.stmt, tensor: LeafTensor, value: Any, rest: list[ast.stmt]) -> None:
        if isinstance(value, Product):
            self.check_factors(node, tensor, (value.left, value.right))
            self.settle(tensor.view.buffer, rest)
            because = self.origin(node, "a product is added to zero")
            self.statements.append(Fill(tensor.view, 0.0, because))
            self.multiply(node, tensor, value)
            return
        block = self.block(node, value)
        if len(block.shape) > tensor.view.rank:
            message = f"a block of {len(block.shape)} axes in a tile of {tensor.view.rank}"
            raise self.error("S804", node, message)
        if not are_same(broadcast(block.shape, tensor.view.shape), tensor.view.shape):
            message = f"a block of {shown(block.shape)} in a tile of {shown(tensor.view.shape)}"
            raise self.error("S804", node, message)
        self.settle(tensor.view.buffer, rest)
        if isinstance(block.expr, Const):
            number = literal_as(block.expr.value, tensor.dtype)
            self.statements.append(Fill(tensor.view, number, self.origin(node)))
            return
        check_storable(block.dtype, tensor.dtype)
        placed = with_axes(convert(block, tensor.dtype).expr, tensor.view.rank)
        self.statements.append(Map(tensor.view, placed, self.origin(node)))

    def settle(self, buffer: str, rest: list[ast.stmt]) -> None:
        """Before a tile is written, names that were computed from it get their values."""
        used = _names_in(rest)
        changed = (buffer, *self.aliases.get(buffer, ()))
        for name, value in list(self.variables.items()):
            is_computed = isinstance(value, Block) and not isinstance(value.expr, Const)
            if not is_computed or name not in used:
                continue
            if any(reads_buffer(value.expr, each) for each in changed):
                self.variables[name] = self.materialize(name, value, self.task.source.node)

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
            raise self.error("S804", node.args[0], *no_primitive(name, STANDARD))
        tensors, number = self.operands(node, primitive)
        if {"C", "A", "B"} <= tensors.keys():
            self.check_factors(node, tensors["C"], (tensors["A"].view, tensors["B"].view))
        for parameter in primitive.parameters:
            if "w" in parameter.privilege:
                self.settle(tensors[parameter.name].view.buffer, rest)
        built = primitive.build(tensors, number, self.origin(node))
        self.check_overwritten(node, built)
        self.statements += built

    def check_overwritten(self, node: ast.Call, built: Sequence[Stmt]) -> None:
        """Raise an error if a primitive reads what its own first statement has overwritten.

        Views of one buffer are compared by the verifier.
        """
        written = [view.buffer for stmt in built[:1] for view, how in accesses(stmt) if how == "w"]
        read = {view.buffer for stmt in built[1:] for view, how in accesses(stmt) if how == "r"}
        if any(read & {*self.aliases.get(each, ())} for each in written):
            message = f"`{words(node)}`: the result is written over what it is computed from"
            help = "give the result a tensor of its own: `task.local`"
            raise self.error("S804", node, message, help)

    def operands(self, node: ast.Call, primitive: Standard) -> tuple[Tensors, float]:
        given = [self.value(each) for each in node.args[1:]]
        wanted = len(primitive.parameters) + bool(primitive.number)
        if node.keywords:
            message = f"`{primitive.name}` is given `{node.keywords[0].arg or '**'}` as a keyword"
            help = f"arguments are passed by position: {primitive.signature}"
            raise self.error("S804", node.keywords[0], message, help)
        if len(given) != wanted:
            message = (
                f"`{primitive.name}` takes {wanted} arguments, not {len(given)}:"
                f" {primitive.signature}"
            )
            raise self.error("S804", node, message)
        tensors: dict[str, LeafTensor] = {}
        extents: dict[str, Affine] = {}
        for parameter, value, at in zip(primitive.parameters, given, node.args[1:], strict=False):
            if not isinstance(value, LeafTensor):
                raise self.error("S804", at, f"`{words(at)}` is no tensor of this task")
            self.check_dims(at, primitive, parameter.dims, value.view.shape, extents)
            tensors[parameter.name] = value
        number = given[-1] if primitive.number else 0.0
        if not isinstance(number, int | float):
            raise self.error("S804", node.args[-1], f"`{words(node.args[-1])}` is no number")
        return tensors, float(number)

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
            if not is_same(extents.setdefault(letter, extent), extent):
                message = (
                    f"`{letter}` of {primitive.signature} is {extents[letter]} before and"
                    f" {extent} in `{words(node)}`"
                )
                raise self.error("S804", node, message)


def _names_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names whose values some statements use; one that only gets another value is none."""
    nodes = [each for node in body for each in ast.walk(node)]
    changed = [each.target for each in nodes if isinstance(each, ast.AugAssign)]
    names = [each for each in (*nodes, *changed) if isinstance(each, ast.Name)]
    return {each.id for each in names if each in changed or isinstance(each.ctx, ast.Load)}
