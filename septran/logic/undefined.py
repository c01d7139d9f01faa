"""Names in the texts of tasks that mean nothing: they are found without a mapping."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator
from types import ModuleType

from eas.septran.logic.errors import no_primitive, not_defined
from eas.septran.logic.expressions import no_inner_function
from eas.septran.logic.launches import calls_of
from eas.septran.logic.leaf_expressions import no_leaf_function
from eas.septran.logic.primitives import STANDARD
from eas.septran.logic.tasks import Task
from eas.support.diagnostics import Diagnostic


def undefined_in(tasks: Iterable[Task]) -> list[Diagnostic]:
    """The names, the functions of modules and the primitives in some tasks that there are not."""
    found: list[Diagnostic] = []
    for task in tasks:
        for code, node, (message, *help) in _undefined(task):
            found.append(Diagnostic(code, message, task.source.loc(node), help=tuple(help)))
    return found


_Wrong = tuple[str, ast.AST, tuple[str, ...]]  # a code, where it is, a message and helps


def _undefined(task: Task) -> Iterator[_Wrong]:
    nodes = task.nodes
    given = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own = {*task.parameters, *given, *(n.arg for n in nodes if isinstance(n, ast.arg))}
    for node in nodes:
        if isinstance(node, ast.Name):
            yield from _names(task, node, own)
        elif isinstance(node, ast.Attribute):
            yield from _members(task, node, own)
    for call in calls_of(task, "call_primitive"):
        match call.args:
            case [ast.Constant(value=str(name)) as first, *_] if name not in STANDARD:
                yield "S804", first, no_primitive(name, STANDARD)
            case _:
                pass


def _names(task: Task, node: ast.Name, own: Collection[str]) -> Iterator[_Wrong]:
    is_known = node.id in own or node.id in task.outer_names or hasattr(builtins, node.id)
    if not is_known:
        yield "S802", node, not_defined(node.id, {*own, *task.outer_names})


def _members(task: Task, node: ast.Attribute, own: Collection[str]) -> Iterator[_Wrong]:
    """A function of a module, `task.tunable`, that the module does not have."""
    match node.value:
        case ast.Name(id=name) if name not in own:
            owner = task.outer_names.get(name)
            if isinstance(owner, ModuleType) and not hasattr(owner, node.attr):
                refusal = no_leaf_function if task.is_leaf else no_inner_function
                yield "S802", node, refusal(owner, node)
        case _:
            pass
