"""What a mapping may name in a logic: parameters, local tensors, tunables, launches, leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from eas.septran.files import TaskNames
from eas.septran.logic.tasks import Task


def names_in(tasks: Mapping[str, Task]) -> dict[str, TaskNames]:
    """The names of each task, by the name of its function."""
    return {name: _names(task) for name, task in tasks.items()}


def _names(task: Task) -> TaskNames:
    below = list(tasks_below(task))
    own = list(launched_tasks(task))
    return TaskNames(
        parameters=task.parameters,
        locals=tuple(dict.fromkeys(_texts(task, "local"))),
        tunables=tuple(
            dict.fromkeys(t for each in (task, *below) for t in _texts(each, "tunable"))
        ),
        launches=tuple(dict.fromkeys(name for each in own for name in each.names)),
        leaves=tuple(
            dict.fromkeys(n for each in (task, *below) if each.is_leaf for n in each.names)
        ),
    )


def tasks_below(task: Task, seen: set[str] | None = None) -> Iterator[Task]:
    """The tasks that a task launches, and those that they launch."""
    seen = set() if seen is None else seen
    for each in launched_tasks(task):
        if each.function_name not in seen:
            seen.add(each.function_name)
            yield each
            yield from tasks_below(each, seen)


def launched_tasks(task: Task) -> Iterator[Task]:
    """The tasks that stand in the launches of a task."""
    known = [each for each in task.outer_names.values() if isinstance(each, Task)]
    for call in calls_of(task, "launch"):
        match call.args:
            case [ast.Name(id=name), *_] if isinstance(task.outer_names.get(name), Task):
                wanted = task.outer_names[name]
                yield from (each for each in known if each is wanted)
            case [ast.Constant(value=str(name)), *_]:
                yield from (each for each in known if name in each.names and each is not task)
            case _:
                pass


def _texts(task: Task, function: str) -> Iterator[str]:
    for call in calls_of(task, function):
        match call.args:
            case [ast.Constant(value=str(name)), *_]:
                yield name
            case _:
                pass


def calls_of(task: Task, function: str) -> Iterator[ast.Call]:
    """The calls of `task.<function>` in a task's text."""
    return (call for name, call in task.calls if name == function)
