"""The Python that is left of a function once its constexpr arguments are known."""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import math
import warnings
from collections.abc import Iterable
from typing import Any, cast

from eas.frontend_ast.source.reading import FunctionNode, FunctionSource


def specialize(fn_source: FunctionSource, constants: dict[str, object]) -> str:
    """The function's text with literals for constexpr parameters and without dead branches."""
    node = copy.deepcopy(fn_source.node)
    bound = _bound_names(node)
    literals = {name: _literal(v) for name, v in constants.items() if _is_writable(v)}
    # A parameter that the body assigns to cannot be replaced everywhere: it is set at the start.
    assigned = {name: literal for name, literal in literals.items() if name in bound}
    _drop_parameters(node.args, set(literals))
    runtime = {p.arg for p in ast.walk(node.args) if isinstance(p, ast.arg)} - set(constants)
    values = _outer_values(fn_source) | constants
    reducer = _Reducer(
        {name: literal for name, literal in literals.items() if name not in bound},
        {name: v for name, v in values.items() if name not in bound | runtime},
    )
    if isinstance(node, ast.Lambda):
        node.body = reducer.visit(node.body)
    else:
        node.decorator_list = []
        node.body = reducer.visit(ast.Module(node.body, type_ignores=[])).body
        _set_at_start(node, assigned)
    return _print(ast.fix_missing_locations(node))


def _is_writable(value: object) -> bool:
    """Whether there is a literal for the value."""
    if type(value) is tuple:
        return all(map(_is_writable, cast("tuple[object, ...]", value)))
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str, bytes)


def _literal(value: object) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body  # `-1` is two nodes: precedence needs both


def _bound_names(function: FunctionNode) -> set[str]:
    """Every name that the body gives a value to, in whatever scope of it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    bound: set[str] = set()
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store() | ast.Del())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                bound.add(name)
            case _:
                pass
    return bound


def _drop_parameters(arguments: ast.arguments, names: set[str]) -> None:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaulted = positional[len(positional) - len(arguments.defaults) :]
    arguments.defaults = [
        default
        for parameter, default in zip(defaulted, arguments.defaults, strict=True)
        if parameter.arg not in names
    ]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    arguments.kw_defaults = [default for p, default in keyword_only if p.arg not in names]
    arguments.posonlyargs = _without(arguments.posonlyargs, names)
    arguments.args = _without(arguments.args, names)
    arguments.kwonlyargs = _without(arguments.kwonlyargs, names)


def _without(parameters: Iterable[ast.arg], names: set[str]) -> list[ast.arg]:
    return [parameter for parameter in parameters if parameter.arg not in names]


def _set_at_start(
    node: ast.FunctionDef | ast.AsyncFunctionDef, values: dict[str, ast.expr]
) -> None:
    position = 0 if ast.get_docstring(node, clean=False) is None else 1
    node.body[position:position] = [
        ast.Assign([ast.Name(name, ast.Store())], value, lineno=node.lineno)
        for name, value in values.items()
    ]


def _outer_values(fn_source: FunctionSource) -> dict[str, object]:
    """What names mean outside of the function: built-ins, the module, the closure."""
    return {**vars(builtins), **fn_source.globals, **fn_source.closure}


class _Reducer(ast.NodeTransformer):
    """Writes literals for names and takes the branch that a known condition selects."""

    def __init__(self, literals: dict[str, ast.expr], values: dict[str, object]) -> None:
        self.literals = literals
        self.values = values

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body: Any = getattr(node, "body", None)
        if body == []:  # all of it was a branch that is not taken
            body.append(ast.Pass())
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        literal = self.literals.get(node.id)
        return node if literal is None else copy.deepcopy(literal)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        node.test = self.visit(node.test)
        condition = self._truth(node.test)
        if condition is None:
            return self.generic_visit(node)
        taken = ast.Module(node.body if condition else node.orelse, type_ignores=[])
        super().generic_visit(taken)
        return taken.body

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        condition = self._truth(node.test)
        if condition is None:
            return self.generic_visit(node)
        return self.visit(node.body if condition else node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Leave out what is known from the left; the value of the whole stays the same."""
        first, *rest = node.values
        condition = self._truth(first)
        if condition is None:
            return self.generic_visit(node)
        if condition is isinstance(node.op, ast.Or):
            return self.visit(first)
        return self.visit(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))

    def _truth(self, test: ast.expr) -> bool | None:
        """Whether the condition holds, if that is known now."""
        if not self._is_known(test):
            return None
        expression = compile(ast.Expression(test), "<constexpr>", "eval")
        try:
            return bool(eval(expression, {"__builtins__": {}}, self.values))
        except Exception:  # whatever it raises, it will do so again where it is compiled
            return None

    def _is_known(self, node: ast.AST) -> bool:
        """Whether the expression is made of known values and runs no function of the user's."""
        match node:
            case ast.Name(id=name):
                return name in self.values
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                function = self.values.get(name)
                return any(function is f for f in _CALLED) and all(map(self._is_known, args))
            case _:
                children = ast.iter_child_nodes(node)
                return isinstance(node, _EVALUATED) and all(map(self._is_known, children))


_CALLED = (abs, bool, float, int, isinstance, len, max, min, round)
_EVALUATED = (
    *(ast.Constant, ast.Tuple, ast.Attribute, ast.Subscript, ast.Slice),
    *(ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.unaryop, ast.operator, ast.boolop, ast.cmpop, ast.expr_context),
)


def _print(node: FunctionNode) -> str:
    """Print with astor, or with `ast.unparse` what astor does not print faithfully."""
    text = _print_with_astor(node)
    if text is None or not _means(text, node):
        text = ast.unparse(node)
    return text.rstrip() + "\n"


def _print_with_astor(node: FunctionNode) -> str | None:
    # astor uses names that newer versions of `ast` warn of, and that 3.14 no longer has
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return importlib.import_module("astor").to_source(node)
        except Exception:
            return None


def _means(text: str, node: FunctionNode) -> bool:
    wanted = ast.Expr(node) if isinstance(node, ast.Lambda) else node
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.Module([wanted], type_ignores=[]))
    except SyntaxError:
        return False
