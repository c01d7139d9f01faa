"""A mapping for a logic and a machine, made without anybody's help: a start, and legal.

Every inner task has an instance: the entry task on the host, the others where a grid runs. What a
task writes is held in registers, what it reads in scratch memory, and no loop is pipelined.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eas.septran.files import Machine
from eas.septran.logic.tasks import Task
from eas.septran.lowering.names import calls_of, launched_tasks, names_in, tasks_below

TILE = 32  # a multiple of what the primitives of all machines take


def make_skeleton(
    tasks: Mapping[str, Task], machine: Machine, wanted: Iterable[str] = ()
) -> dict[str, Any]:
    """A complete mapping as data, for the entry task from which all tasks `wanted` are launched.

    The entry task is one that no other task launches.
    """
    entry = find_entry(tasks, wanted)
    instances: dict[str, Any] = {}
    tensors = tensor_parameters(entry)
    several = [entry, *(each for each in tasks_below(entry) if not each.is_leaf)]
    names = {task.function_name: _instance_name(task) for task in several}
    for task in several:
        instances[names[task.function_name]] = _instance(
            task, entry, machine, tensors[task.function_name], names
        )
    return {
        "machine": machine.name,
        "entrypoint": names[entry.function_name],
        "task_mappings": instances,
    }


def find_entry(tasks: Mapping[str, Task], wanted: Iterable[str] = ()) -> Task:
    """The first task that no other one launches and that leads to all tasks wanted."""
    inner = [task for task in tasks.values() if not task.is_leaf]
    launched = {each.function_name for task in inner for each in launched_tasks(task)}
    names = set(wanted)
    roots = [task for task in inner if task.function_name not in launched] or inner
    for task in roots:
        reached = [task, *tasks_below(task)]
        if names <= {name for each in reached for name in (each.function_name, *each.names)}:
            return task
    raise ValueError(f"no task launches all of {', '.join(sorted(names))}")


def tensor_parameters(entry: Task) -> dict[str, set[str]]:
    """For each task at or below an entry task, its parameters that are tensors."""
    tensors: dict[str, set[str]] = {entry.function_name: set(entry.parameters)}
    for task in (entry, *(each for each in tasks_below(entry) if not each.is_leaf)):
        _pass_tensors(task, tensors)
    return tensors


def _instance_name(task: Task) -> str:
    return task.function_name.removesuffix("_logic")


def _instance(
    task: Task, entry: Task, machine: Machine, tensors: set[str], names: Mapping[str, str]
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
        cut = set(_partitioned(task))
        instance["locals"] = {
            name: _first(machine, proc, "scratch" if name in cut else "registers")
            for name in known.locals
        }
    tunables = dict.fromkeys(_own_tunables(task), TILE)
    if is_entry and any(_has_block_size(each) for each in (task, *tasks_below(task))):
        tunables["block_size"] = TILE
    if tunables:
        instance["tunables"] = tunables
    below = [each for each in launched_tasks(task) if each.function_name in names]
    if below:
        instance["calls"] = {each.function_name: names[each.function_name] for each in below}
    return instance


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


def _partitioned(task: Task) -> Iterator[str]:
    """The local tensors of which a task uses parts: in registers they are used whole."""
    cut = {_root(call.args[0], _roots(task)) for call in calls_of(task, "partition") if call.args}
    for node in ast.walk(task.source.node):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=variable)],
                value=ast.Call(
                    func=ast.Attribute(attr="local"), args=[ast.Constant(value=str(name)), *_]
                ),
            ) if variable in cut:
                yield name
            case _:
                pass


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


def _written(task: Task) -> set[str]:
    """The parameters that a task, or one that it launches, writes: in the places of its names."""
    if task.is_leaf:
        return set(_written_in_leaf(task))
    roots = _roots(task)
    found: set[str] = set()
    for call, callee in _launches(task):
        below = _written(callee)
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


def _launches(task: Task) -> Iterator[tuple[ast.Call, Task]]:
    by_name = {name: each for each in launched_tasks(task) for name in each.names}
    for call in calls_of(task, "launch"):
        match call.args[:1]:
            case [ast.Name(id=name)] if isinstance(task.outer_names.get(name), Task):
                yield call, task.outer_names[name]  # pyright: ignore[reportReturnType]
            case [ast.Constant(value=str(name))] if name in by_name:
                yield call, by_name[name]
            case _:
                pass


def _roots(task: Task) -> dict[str, str]:
    """For each name of a tensor, a tile or a partition in a task, the tensor that it is of."""
    roots = {name: name for name in task.parameters}
    for node in ast.walk(task.source.node):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(attr="partition"), args=[tensor, *_]),
            ):
                root = _root(tensor, roots)
                if root is not None:
                    roots[name] = root
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="local"))
            ):
                roots[name] = name
            case _:
                pass
    return roots


def _root(argument: ast.expr, roots: Mapping[str, str]) -> str | None:
    while isinstance(argument, ast.Subscript):
        argument = argument.value
    return roots.get(argument.id) if isinstance(argument, ast.Name) else None


def _pass_tensors(task: Task, tensors: dict[str, set[str]]) -> None:
    """What a task passes on is a tensor if it is a tensor, a tile or a local tensor of its own."""
    known = tensors.setdefault(task.function_name, set())
    numbers = set(task.parameters) - known
    roots = {name: root for name, root in _roots(task).items() if root not in numbers}
    for call, callee in _launches(task):
        given = tensors.setdefault(callee.function_name, set())
        for name, argument in zip(callee.parameters, call.args[1:], strict=False):
            if _root(argument, roots) is not None:
                given.add(name)
