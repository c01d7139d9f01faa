"""A mapping for a logic and a machine, made without anybody's help: a start, and legal.

Every inner task has an instance: the entry task on the host, the others where a grid runs. What a
task writes is held in registers, what it reads in scratch memory, and no loop is pipelined.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eas.septran.files import Machine
from eas.septran.logic.launches import calls_of, launched_tasks, tasks_below
from eas.septran.logic.tasks import Task
from eas.septran.lowering.names import names_in

TILE = 32  # a multiple of what the primitives of all machines take


def make_skeleton(
    tasks: Mapping[str, Task], machine: Machine, wanted: Iterable[str] = ()
) -> dict[str, Any]:
    """A complete mapping as data, for the entry task from which all tasks `wanted` are launched.

    The entry task is one that no other task launches.
    """
    wanted = list(wanted)
    entry = find_entry(tasks, wanted)
    instances: dict[str, Any] = {}
    tensors = tensor_parameters(entry)
    chosen = frozenset(wanted)
    several = [entry, *_chosen_below(entry, chosen, set())]
    names = {task.function_name: _instance_name(task) for task in several}
    for task in several:
        instances[names[task.function_name]] = _instance(
            task, entry, machine, tensors[task.function_name], names, chosen
        )
    return {
        "machine": machine.name,
        "entrypoint": names[entry.function_name],
        "task_mappings": instances,
    }


def find_entry(tasks: Mapping[str, Task], wanted: Iterable[str] = ()) -> Task:
    """The first task that no other one launches and that leads to all tasks wanted."""
    names = set(wanted)
    for task in entry_tasks(tasks):
        reached = [task, *tasks_below(task)]
        if names <= {name for each in reached for name in (each.function_name, *each.names)}:
            return task
    if not names:
        raise ValueError("all its tasks are leaves")
    raise ValueError(f"no task launches all of {', '.join(sorted(names))}")


def entry_tasks(tasks: Mapping[str, Task]) -> list[Task]:
    """The inner tasks that no other one launches."""
    inner = [task for task in tasks.values() if not task.is_leaf]
    launched = {each.function_name for task in inner for each in launched_tasks(task)}
    return [task for task in inner if task.function_name not in launched] or inner


def tensor_parameters(entry: Task) -> dict[str, set[str]]:
    """For each task at or below an entry task, its parameters that are tensors."""
    tensors: dict[str, set[str]] = {entry.function_name: set(entry.parameters)}
    for task in (entry, *(each for each in tasks_below(entry) if not each.is_leaf)):
        _pass_tensors(task, tensors)
    return tensors


def _instance_name(task: Task) -> str:
    return task.function_name.removesuffix("_logic")


def _instance(
    task: Task,
    entry: Task,
    machine: Machine,
    tensors: set[str],
    names: Mapping[str, str],
    chosen: frozenset[str],
) -> dict[str, Any]:
    is_entry = task is entry
    proc = next(iter(machine.procs)) if is_entry else machine.grid
    instance: dict[str, Any] = {"task_name": task.function_name, "proc": proc}
    own = [name for name in task.parameters if name in tensors]
    if is_entry:
        instance["mems"] = dict.fromkeys(own, _first(machine, proc, "global"))
    elif any(each is task for each in launched_tasks(entry)):
        written = _written(task)
        instance["mems"] = {
            name: _first(machine, proc, "registers" if name in written else "scratch")
            for name in own
        }
    known = names_in({task.function_name: task})[task.function_name]
    if known.locals:
        cut = set(_cut_locals(task))
        instance["locals"] = {
            name: _first(machine, proc, "scratch" if name in cut else "registers")
            for name in known.locals
        }
    tunables = dict.fromkeys(_own_tunables(task), TILE)
    if is_entry and any(_has_block_size(each) for each in (task, *tasks_below(task))):
        tunables["block_size"] = TILE
    if tunables:
        instance["tunables"] = tunables
    calls = {
        called: names[each.function_name]
        for called, _, each in _launches(task, chosen)
        if each.function_name in names
    }
    if calls:
        instance["calls"] = calls
    return instance


def _chosen_below(task: Task, chosen: frozenset[str], seen: set[str]) -> Iterator[Task]:
    """The inner tasks that a task launches, and those that they launch: one of several variants."""
    for _, _, each in _launches(task, chosen):
        if not each.is_leaf and each.function_name not in seen:
            seen.add(each.function_name)
            yield each
            yield from _chosen_below(each, chosen, seen)


def _first(machine: Machine, proc: str, kind: str) -> str:
    """A memory of a kind that a processor sees; else the first of the kinds that are as fast."""
    visible = machine.memories_of(proc)
    for each in (kind, "scratch", "global"):
        found = [
            name
            for name in visible
            if machine.mems[name].kind == each and machine.mems[name].space is None
        ]
        if found:
            return found[0]
    return visible[0]


def _cut_locals(task: Task) -> Iterator[str]:
    """The local tensors of which a task uses parts: in registers they are used whole."""
    cut = _cut(task, set())
    for variable, value in _assignments(task):
        match value:
            case ast.Call(
                func=ast.Attribute(attr="local"), args=[ast.Constant(value=str(name)), *_]
            ) if variable in cut:
                yield name
            case _:
                pass


def _cut(task: Task, seen: set[str]) -> set[str]:
    """The tensors of which a task, or one that it launches, uses parts."""
    if task.is_leaf or task.function_name in seen:
        return set()
    roots = _roots(task)
    found = {_root(call.args[0], roots) for call in calls_of(task, "partition") if call.args}
    for node in ast.walk(task.source.node):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            found.add(node.value.id if roots.get(node.value.id) == node.value.id else None)
    for _, call, callee in _launches(task):
        below = _cut(callee, {*seen, task.function_name})
        for name, argument in zip(callee.parameters, call.args[1:], strict=False):
            found.add(_root(argument, roots) if name in below else None)
    return {each for each in found if each is not None}


def _own_tunables(task: Task) -> list[str]:
    return [
        str(call.args[0].value)
        for call in calls_of(task, "tunable")
        if call.args and isinstance(call.args[0], ast.Constant)
    ]


def _has_block_size(task: Task) -> bool:
    return any(
        keyword.arg == "shape_from"
        for call in calls_of(task, "partition")
        for keyword in call.keywords
    )


def _written(task: Task, seen: frozenset[str] = frozenset()) -> set[str]:
    """The parameters that a task, or one that it launches, writes: in the places of its names."""
    if task.is_leaf:
        return set(_written_in_leaf(task))
    if task.function_name in seen:
        return set()
    roots = _roots(task)
    found: set[str] = set()
    for _, call, callee in _launches(task):
        below = _written(callee, seen | {task.function_name})
        for name, argument in zip(callee.parameters, call.args[1:], strict=False):
            root = _root(argument, roots)
            if name in below and root is not None:
                found.add(root)
    return found


def _written_in_leaf(task: Task) -> Iterator[str]:
    for node in ast.walk(task.source.node):
        match node:
            case ast.Assign(targets=targets):
                yield from _names_of_targets(targets)
            case ast.AugAssign(target=target):
                yield from _names_of_targets([target])
            case _:
                pass
    for call in calls_of(task, "call_primitive"):
        if len(call.args) > 1 and isinstance(call.args[1], ast.Name):
            yield call.args[1].id


def _names_of_targets(targets: Sequence[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id


def _launches(
    task: Task, chosen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, ast.Call, Task]]:
    """What each launch calls its task, the call, and the task: of variants one that is chosen."""
    tasks = [each for each in launched_tasks(task) if each.function_name in chosen]
    for call in calls_of(task, "launch"):
        match call.args[:1]:
            case [ast.Name(id=name)] if isinstance(found := task.outer_names.get(name), Task):
                yield found.function_name, call, found
            case [ast.Constant(value=str(name))] if (variant := task.variant(name)) is not None:
                yield name, call, next((each for each in tasks if name in each.names), variant)
            case _:
                pass


def _roots(task: Task) -> dict[str, str]:
    """For each name of a tensor, a tile or a partition in a task, the tensor that it is of."""
    roots = {name: name for name in task.parameters}
    for name, value in _assignments(task):
        match value:
            case ast.Call(func=ast.Attribute(attr="partition"), args=[tensor, *_]):
                root = _root(tensor, roots)
            case ast.Call(func=ast.Attribute(attr="local")):
                root = name
            case _:
                root = _root(value, roots)
        if root is not None:
            roots[name] = root
    return roots


def _assignments(task: Task) -> Iterator[tuple[str, ast.expr]]:
    """The names that a task assigns, with what it assigns; `a, b = c, d` is two of them."""
    for node in ast.walk(task.source.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, value
            case _:
                pass


def _root(argument: ast.expr, roots: Mapping[str, str]) -> str | None:
    while isinstance(argument, ast.Subscript):
        argument = argument.value
    return roots.get(argument.id) if isinstance(argument, ast.Name) else None


def _pass_tensors(task: Task, tensors: dict[str, set[str]]) -> None:
    """What a task passes on is a tensor if it is a tensor, a tile or a local tensor of its own."""
    known = tensors.setdefault(task.function_name, set())
    numbers = set(task.parameters) - known
    roots = {name: root for name, root in _roots(task).items() if root not in numbers}
    for _, call, callee in _launches(task):
        given = tensors.setdefault(callee.function_name, set())
        for name, argument in zip(callee.parameters, call.args[1:], strict=False):
            if _root(argument, roots) is not None:
                given.add(name)
