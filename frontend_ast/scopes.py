"""Names: frames of functions, bindings, and which names a piece of Python assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType

from eas.frontend_ast.source import FunctionSource
from eas.frontend_ast.values import Num, Operand
from eas.ir.diagnostics import Label
from eas.ir.location import Loc
from eas.ir.nodes import Value


@dataclass(frozen=True, slots=True)
class Bound:
    """A name with a value, and the assignment that gave it."""

    value: Operand
    loc: Loc


@dataclass(frozen=True, slots=True)
class Given:
    """What a name is where a condition has this truth: `a and (x := b)` gives `x` if it is true."""

    condition: Value
    truth: bool
    bound: Bound


@dataclass(frozen=True, slots=True)
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


Binding = Bound | Unbound
Env = dict[str, Binding]
NEVER = Unbound()


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


@dataclass(eq=False)
class Frame:
    """One function under way: the kernel, or a helper that is being inlined into it."""

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


def assigned_names(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """The names that statements bind in their own scope, in the order of the text."""
    return tuple(dict.fromkeys(name for node in nodes for name in _bound_by(node)))


@lru_cache(maxsize=4096)
def _bound_by(node: ast.AST) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_bindings(node)))


@lru_cache(maxsize=1024)
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Every name that is local to a function: its parameters and what its body binds."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    return frozenset(a.arg for a in named) | frozenset(assigned_names(body))


def _bindings(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            yield node.name
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name
            yield from _bindings_of_defaults(node.args)
            return
        case ast.Lambda():
            yield from _bindings_of_defaults(node.args)
            return
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.alias():
            yield (node.asname or node.name).split(".")[0]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            # a comprehension has a scope of its own; only a walrus inside binds outside of it
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    yield inner.target.id
            return
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        yield from _bindings(child)


def _bindings_of_defaults(arguments: ast.arguments) -> Iterator[str]:
    """The defaults of a function are evaluated where it is defined; its body is not."""
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            yield from _bindings(default)
