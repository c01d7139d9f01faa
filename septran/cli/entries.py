"""Which task of a logic a mapping begins with that is made for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from eas.septran.logic.tasks import Task
from eas.septran.lowering.skeleton import entry_tasks
from eas.support.close_names import closest
from eas.support.command_line import UsageError


def check_entry(logic: str, tasks: Mapping[str, Task], entry: str | None) -> None:
    """Refuses a name that no task has; says which task is taken if several could be."""
    if entry is None:
        _name_choice([each.function_name for each in entry_tasks(tasks)])
        return
    known = tasks.values()
    names = [name for each in known for name in dict.fromkeys((each.function_name, *each.names))]
    if entry in names:
        return
    close = closest(entry, names)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    raise UsageError(f"{logic} has no task `{entry}`: there are {', '.join(names)}{hint}")


def _name_choice(names: list[str]) -> None:
    if len(names) > 1:
        text = f"the mapping begins with `{names[0]}`; --entry takes another: {', '.join(names)}"
        print(f"septran: {text}", file=sys.stderr, flush=True)
