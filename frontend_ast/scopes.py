"""Names: frames of functions, bindings, and which names a piece of Python assigns."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from eas.frontend_ast.operands import Num, Operand
from eas.frontend_ast.source.reading import FunctionSource
from eas.ir.nodes import Value
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import field, frozen, record


@frozen
class Bound:
    """A name with a value, and the assignment that gave it."""

    value: Operand
    loc: Loc


@frozen
class Given:
    """What a name is where a condition has this truth: `a and (x := b)` gives `x` if it is true."""

    condition: Value
    truth: bool
    bound: Bound


@frozen
class Unbound:
    """A name that some path leaves without a value; `paths` says which."""

    paths: tuple[Label, ...] = ()
    given: Given | None = None

    def where(self, condition: Operand | None, truth: bool) -> Binding:
        """What the name is where a condition turned out so."""
        given = self.given
        if given is None or not isinstance(condition, Num) or given.truth != truth:
            return self
        return given.bound if condition.value == given.condition else self


UNBOUND = Unbound()

Binding = Bound | Unbound
Env = dict[str, Binding]


class Cells(Mapping[str, object]):
    """The variables that a Python function closes over, as they are now."""

    def __init__(self, function: FunctionType) -> None:
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def __getitem__(self, name: str) -> object:
        try:
            return self._cells[name].cell_contents
        except ValueError:  # not assigned yet
            raise KeyError(name) from None

    def __eq__(self, other: object) -> bool:
        """Whether they are the same variables, whatever their values are."""
        if not isinstance(other, Cells) or self._cells.keys() != other._cells.keys():
            return False
        return all(cell is other._cells[name] for name, cell in self._cells.items())

    __hash__ = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


def env_where(env: Env, condition: Operand | None, truth: bool) -> Env:
    """The names where a condition turned out so."""
    return {
        name: binding.where(condition, truth) if isinstance(binding, Unbound) else binding
        for name, binding in env.items()
    }


@record(eq=False)
class Frame:
    """One function that is being lowered: the kernel, or a helper that is being inlined into it."""

    source: FunctionSource
    names: frozenset[str]
    env: Env
    globals: Mapping[str, object]
    cells: Mapping[str, object]
    parent: Frame | None = None
    caller: Loc | None = None
    locs: dict[int, Loc] = field(default_factory=dict[int, Loc])
    is_comprehension: bool = False

    def loc(self, node: ast.AST) -> Loc:
        """Where a node stands, with the calls that led here."""
        found = self.locs.get(id(node))
        if found is None:
            found = self.locs[id(node)] = self.source.head(node, self.caller)
        return found


N = TypeVar("N", bound=ast.AST)
R = TypeVar("R")


def per_node(function: Callable[[N], R]) -> Callable[[N], R]:
    """`functools.cache` that keeps no ast alive: those of kernels that are redefined are many."""
    found: WeakKeyDictionary[N, R] = WeakKeyDictionary()

    @wraps(function)
    def look_up(node: N) -> R:
        try:
            return found[node]
        except KeyError:
            result = found[node] = function(node)
            return result

    return look_up


def assigned_names(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """The names that statements bind in their own scope, in the order of the text."""
    return tuple(dict.fromkeys(name for node in nodes for name in _bound_by(node)))


def changed_names(node: ast.stmt) -> list[str]:
    """What statements that only call a method may be meant to change: `items.append(x)`."""
    found: list[str] = []
    for inner in ast.walk(node):
        match inner:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                found.append(name)
            case _:
                pass
    return found


@per_node
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Every name that is local to a function: its parameters and what its body binds."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    return frozenset(a.arg for a in named) | frozenset(assigned_names(body))


@per_node
def count_reads(node: ast.AST) -> Counter[str]:
    """How often each name is read in a piece of Python, the functions inside of it included."""
    return Counter([name for inner in _walk(node) if (name := _read_by(inner)) is not None])


def _read_by(node: ast.AST) -> str | None:
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    return node.id if isinstance(node, ast.Name) else None


@per_node
def _bound_by(node: ast.AST) -> tuple[str, ...]:
    """Kept for statements, which are asked for again with what is around them."""
    names: list[str] = []
    _add_bindings(node, names)
    return tuple(dict.fromkeys(names))


def _add_bindings(node: ast.AST, names: list[str]) -> None:
    binds = _BINDS.get(type(node))
    if binds is not None:
        names += binds(node)
    if isinstance(node, _SCOPES):
        return
    for part in _parts(node):
        if isinstance(part, ast.stmt):
            names += _bound_by(part)
        else:
            _add_bindings(part, names)


def _of_name(node: ast.Name) -> Iterable[str]:
    return () if isinstance(node.ctx, ast.Load) else (node.id,)


def _of_definition(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[str]:
    return (node.name, *_of_defaults(node))


def _of_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterable[str]:
    """The defaults of a function are evaluated where it is defined; its body is not."""
    defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
    return assigned_names(defaults)


def _of_comprehension(node: ast.AST) -> Iterable[str]:
    """It has a scope of its own; only a walrus inside binds outside of it."""
    return [inner.target.id for inner in _walk(node) if isinstance(inner, ast.NamedExpr)]


def _of_pattern(node: ast.MatchAs | ast.MatchStar | ast.ExceptHandler) -> Iterable[str]:
    return () if node.name is None else (node.name,)


_BINDS: dict[type[ast.AST], Callable[[Any], Iterable[str]]] = {
    ast.Name: _of_name,
    ast.ClassDef: lambda node: (node.name,),
    ast.FunctionDef: _of_definition,
    ast.AsyncFunctionDef: _of_definition,
    ast.Lambda: _of_defaults,
    ast.ListComp: _of_comprehension,
    ast.SetComp: _of_comprehension,
    ast.DictComp: _of_comprehension,
    ast.GeneratorExp: _of_comprehension,
    ast.MatchAs: _of_pattern,
    ast.MatchStar: _of_pattern,
    ast.ExceptHandler: _of_pattern,
    ast.Global: lambda node: node.names,
    ast.Nonlocal: lambda node: node.names,
    ast.alias: lambda node: [(node.asname or node.name).split(".")[0]],
}
_SCOPES = (
    *(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def _walk(node: ast.AST) -> list[ast.AST]:
    """A node and all those in it: `ast.walk`, without the marks."""
    found = [node]
    for each in found:
        found += _parts(each)
    return found


def _parts(node: ast.AST) -> list[ast.AST]:
    """The nodes in a node, without the marks that half of them are: `Load()`, `Add()`."""
    parts: list[ast.AST] = []
    for name in node._fields:
        found: Any = getattr(node, name, None)
        if isinstance(found, list):
            parts += [item for item in cast(list[Any], found) if isinstance(item, ast.AST)]
        elif isinstance(found, ast.AST) and not isinstance(found, _MARKS):
            parts.append(found)
    return parts
