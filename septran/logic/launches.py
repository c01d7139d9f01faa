"""What stands in the texts of tasks: launches, the tasks that are launched, names of tunables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from eas.septran.logic.errors import words
from eas.septran.logic.tasks import Task


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
    known = task.outer_tasks
    for call in calls_of(task, "launch"):
        match call.args:
            case [ast.Name(id=name), *_] if isinstance(task.outer_names.get(name), Task):
                wanted = task.outer_names[name]
                yield from (each for each in known if each is wanted)
            case [ast.Constant(value=str(name)), *_]:
                yield from (each for each in known if name in each.names and each is not task)
            case [ast.Attribute() as callee, *_]:
                help = f"import the task by its name: `from ... import {callee.attr}`"
                message = f"`{words(callee)}` is launched, which is no name of a task"
                raise task.error("S802", message, task.source.loc(callee), help)
            case _:
                pass


def texts_of(task: Task, function: str) -> Iterator[str]:
    """The first arguments of the calls of `task.<function>` that are texts."""
    for call in calls_of(task, function):
        match call.args:
            case [ast.Constant(value=str(name)), *_]:
                yield name
            case _:
                pass


def calls_of(task: Task, function: str) -> Iterator[ast.Call]:
    """The calls of `task.<function>` in a task's text."""
    return (call for name, call in task.calls if name == function)
