"""What a mapping may name in a logic: parameters, local tensors, tunables, launches, leaves."""

from __future__ import annotations

from collections.abc import Mapping

from eas.septran.files import TaskNames
from eas.septran.logic.launches import launched_tasks, tasks_below, texts_of
from eas.septran.logic.tasks import Task
from eas.septran.logic.undefined import undefined_in


def names_in(tasks: Mapping[str, Task]) -> dict[str, TaskNames]:
    """The names of each task, by the name of its function."""
    return {name: _names(task) for name, task in tasks.items()}


def _names(task: Task) -> TaskNames:
    below = list(tasks_below(task))
    own = list(launched_tasks(task))
    return TaskNames(
        parameters=task.parameters,
        locals=tuple(dict.fromkeys(texts_of(task, "local"))),
        tunables=tuple(
            dict.fromkeys(t for each in (task, *below) for t in texts_of(each, "tunable"))
        ),
        launches=tuple(dict.fromkeys(name for each in own for name in each.names)),
        leaves=tuple(
            dict.fromkeys(n for each in (task, *below) if each.is_leaf for n in each.names)
        ),
        is_partial=bool(undefined_in(each for each in (task, *below) if not each.is_leaf)),
    )
