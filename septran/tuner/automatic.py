"""A mapping in which everything is open: what an expert would choose, the tuner has to find."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from eas.septran.files import Machine
from eas.septran.files.mapping import NONE
from eas.septran.files.nodes import TuneData
from eas.septran.files.writing import to_yaml
from eas.septran.logic.tasks import Task
from eas.septran.lowering.names import calls_of, launched_tasks
from eas.septran.lowering.skeleton import make_skeleton

SMALLEST, LARGEST = 8, 512
STAGES = (1, 2, 3)


def automatic_mapping(
    tasks: Mapping[str, Task], machine: Machine, sizes: tuple[int, ...], entry: str | None = None
) -> str:
    """The first mapping for a logic and a machine as YAML, with a `!tune` wherever one can stand.

    `sizes` are the extents of the arguments: no tile is larger than the largest needs.
    """
    mapping = make_skeleton(tasks, machine, [entry] if entry else ())
    by_name = {name: task for task in tasks.values() for name in (task.function_name, *task.names)}
    for name, instance in mapping["task_mappings"].items():
        _open(instance, by_name[instance["task_name"]], machine, max(sizes, default=SMALLEST))
        if name == mapping["entrypoint"]:
            instance["mems"] = {key: _first(value) for key, value in instance["mems"].items()}
    return to_yaml(mapping)


def _open(instance: dict[str, Any], task: Task, machine: Machine, largest: int) -> None:
    visible = machine.memories_of(instance["proc"])
    fast = [name for name in visible if machine.mems[name].kind != "global"]
    if "mems" in instance:
        for name, memory in instance["mems"].items():
            instance["mems"][name] = _choice("memory", [memory, *fast, NONE])
    for name, memory in instance.get("locals", {}).items():
        instance["locals"][name] = _choice("memory", [memory, *fast])
    top = SMALLEST
    while top < min(largest, LARGEST):
        top *= 2
    for name in instance.get("tunables", {}):
        instance["tunables"][name] = TuneData({"type": "pow2", "low": SMALLEST, "high": top})
    if instance["proc"] == machine.grid and list(calls_of(task, "sequential_range")):
        instance["pipeline"] = TuneData({"type": "choice", "values": list(STAGES)})
    bindings = {leaf: _choice("binding", names) for leaf, names in _bindings(task, machine)}
    if bindings:
        instance["leaf_task_bindings"] = bindings


def _bindings(task: Task, machine: Machine) -> Iterator[tuple[str, list[str]]]:
    """The leaves that a task launches and that several primitives can compute."""
    for leaf in launched_tasks(task):
        if not leaf.is_leaf:
            continue
        for call in calls_of(leaf, "call_primitive"):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant):
                names = [each.name for each in machine.primitives.get(str(first.value), [])]
                if len(names) > 1:
                    yield leaf.function_name, names


def _choice(kind: str, options: list[str]) -> TuneData:
    return TuneData({"type": kind, "values": list(dict.fromkeys(options))})


def _first(value: Any) -> Any:
    return value.data["values"][0] if isinstance(value, TuneData) else value
