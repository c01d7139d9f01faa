"""Several mappings of one logic, each for some sizes: their `when` says for which."""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.files import Mapping, pick
from eas.septran.files.complaints import Complaints
from eas.septran.logic.tasks import Task
from eas.septran.lowering.arguments import TensorType
from eas.septran.lowering.lower import find_sizes


def check_alternatives(mappings: Sequence[Mapping]) -> None:
    """Raise an error if mappings are not of one machine (S113) and one task (S203)."""
    complaints = Complaints()
    first, *others = mappings
    for other in others:
        if other.machine.name != first.machine.name:
            message = f"the machine is `{other.machine.name}`, and `{first.machine.name}` before"
            complaints.add("S113", message, other.place("machine"))
        if entry_of(other) != entry_of(first):
            message = f"this mapping is of `{entry_of(other)}`, the one before it of"
            complaints.add("S203", f"{message} `{entry_of(first)}`", other.place("entrypoint"))
    complaints.raise_if_any()


def entry_of(mapping: Mapping) -> str:
    """The name of the task that a mapping begins with."""
    instance = mapping.task_mappings[mapping.entrypoint or ""]
    return str(getattr(instance, "task_name", ""))


def choose(mappings: Sequence[Mapping], task: Task, arguments: Sequence[TensorType]) -> Mapping:
    """The first mapping whose `when` holds for the sizes of some arguments."""
    if len(mappings) == 1:
        return mappings[0]
    _, sizes = find_sizes(task, arguments)
    return pick(mappings, sizes)
