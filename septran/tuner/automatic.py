"""A mapping in which everything is open: what an expert would choose, the tuner has to find.

It begins as the mapping that `init-mapping` writes, which is legal for most sizes. The first option
of each choice is what stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eas.septran.files import Machine
from eas.septran.files.machine import Primitive, Processor
from eas.septran.files.mapping import NONE
from eas.septran.files.nodes import TuneData
from eas.septran.files.writing import to_yaml
from eas.septran.logic.launches import calls_of, launched_tasks
from eas.septran.logic.tasks import Task
from eas.septran.lowering.skeleton import make_skeleton, tensor_parameters
from eas.support.records import frozen

LARGEST = 1024
STAGES = (1, 2, 3)


@frozen
class _Given:
    """What the options depend on."""

    machine: Machine
    dtype: str  # of the arrays
    tiles: tuple[int, ...]
    tensors: Mapping[str, set[str]]  # the parameters of each task that are tensors


def automatic_mapping(
    tasks: Mapping[str, Task],
    machine: Machine,
    sizes: Iterable[int] = (),
    entry: str | None = None,
    dtype: str | None = None,
) -> str:
    """The first mapping for a logic and a machine as YAML, with a `!tune` wherever one can stand.

    `sizes` are the extents of the arguments: no tile is larger than the largest needs.
    """
    mapping = make_skeleton(tasks, machine, [entry] if entry else ())
    by_name = {name: task for task in tasks.values() for name in (task.function_name, *task.names)}
    started = by_name[mapping["task_mappings"][mapping["entrypoint"]]["task_name"]]
    tensors = tensor_parameters(started)
    given = _Given(machine, dtype or machine.default_dtype, tile_sizes(sizes), tensors)
    _add_leaves(mapping, started, given)
    for name, instance in mapping["task_mappings"].items():
        is_entry = name == mapping["entrypoint"]
        _open(instance, by_name[instance["task_name"]], given, is_entry=is_entry)
    return to_yaml(mapping)


def _add_leaves(mapping: dict[str, Any], entry: Task, given: _Given) -> None:
    """An instance for each leaf that the entry task launches itself, so that it has memories."""
    for call in calls_of(entry, "launch"):
        match call.args[:1]:
            case [ast.Name(id=name)] if isinstance(leaf := entry.outer_names.get(name), Task):
                pass
            case _:
                continue
        if not leaf.is_leaf or leaf.function_name in mapping["task_mappings"]:
            continue
        own = [each for each in leaf.parameters if each in given.tensors[leaf.function_name]]
        mapping["task_mappings"][leaf.function_name] = {
            "task_name": leaf.function_name,
            "proc": given.machine.grid,
            "mems": dict.fromkeys(own, NONE),
        }
        calls = mapping["task_mappings"][mapping["entrypoint"]].setdefault("calls", {})
        calls[leaf.function_name] = leaf.function_name


def tile_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """The tiles worth trying: powers of two, and whole axes, their halves and their quarters.

    Parts of axes are multiples of 8: vectors and the primitives of most machines want them.
    """
    extents = set(sizes) or {LARGEST}
    top = 1
    while top < min(max(extents), LARGEST):
        top *= 2
    powers = {1 << n for n in range(top.bit_length())}
    parts = {-(-extent // (8 * part)) * 8 for extent in extents for part in (2, 4)}
    whole = {each for each in extents | parts if 8 <= each <= LARGEST}
    return tuple(sorted(powers | whole))


def _open(instance: dict[str, Any], task: Task, given: _Given, *, is_entry: bool) -> None:
    machine = given.machine
    visible = machine.memories_of(instance["proc"])
    fast = [name for name in visible if machine.mems[name].kind != "global"]
    starts_grid = "mems" in instance and not is_entry
    if not is_entry:
        _open_memories(instance, task, given, fast)
    for name, memory in instance.get("locals", {}).items():
        instance["locals"][name] = _choice("memory", [memory, *fast])
    level = machine.procs[instance["proc"]]
    if starts_grid and (level.max_threads or 1) > level.threads:
        instance["threads"] = _threads(level)
    for name in instance.get("tunables", {}):
        instance["tunables"][name] = _tiles(given.tiles)
    if _runs_over_tiles(task) and not is_entry:
        instance["pipeline"] = TuneData({"type": "choice", "values": list(STAGES)})
    bindings = {leaf: _choice("binding", names) for leaf, names in _bindings(task, given)}
    if bindings:
        instance["leaf_task_bindings"] = bindings


def _open_memories(instance: dict[str, Any], task: Task, given: _Given, fast: list[str]) -> None:
    """Each argument is copied, or not: where a grid runs, and where a loop takes tiles of it."""
    for name, memory in instance.get("mems", {}).items():
        instance["mems"][name] = _choice("memory", [memory, *fast, NONE])
    if "mems" not in instance and _runs_over_tiles(task):
        own = [each for each in task.parameters if each in given.tensors[task.function_name]]
        instance["mems"] = {name: _choice("memory", [NONE, *fast]) for name in own}


def _runs_over_tiles(task: Task) -> bool:
    """Whether a task takes tiles in order: its copies may run ahead."""
    calls = (list(calls_of(task, each)) for each in ("partition", "sequential_range"))
    return all(calls)


def _threads(level: Processor) -> TuneData:
    """What the machine file names, its half, and multiples up to the limit."""
    numbers = [level.threads * factor // 2 for factor in (1, 2, 4, 8)]
    legal = [each for each in numbers if 1 <= each <= (level.max_threads or 1)]
    first = legal.index(level.threads)
    return TuneData({"type": "choice", "values": [*legal[first:], *legal[:first]]})


def _tiles(tiles: tuple[int, ...]) -> TuneData:
    if all(each & (each - 1) == 0 for each in tiles):
        return TuneData({"type": "pow2", "low": tiles[0], "high": tiles[-1]})
    return TuneData({"type": "choice", "values": list(tiles)})


def _bindings(task: Task, given: _Given) -> Iterator[tuple[str, list[str]]]:
    """The leaves that a task launches and that several primitives can compute."""
    for leaf in launched_tasks(task):
        if not leaf.is_leaf:
            continue
        for call in calls_of(leaf, "call_primitive"):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant):
                several = given.machine.primitives.get(str(first.value), [])
                names = [each.name for each in several if _takes(each, given.dtype)]
                if len(names) > 1:
                    yield leaf.function_name, names


def _takes(primitive: Primitive, dtype: str) -> bool:
    return not primitive.dtypes or dtype in primitive.dtypes


def _choice(kind: str, options: list[str]) -> TuneData:
    return TuneData({"type": kind, "values": list(dict.fromkeys(options))})
