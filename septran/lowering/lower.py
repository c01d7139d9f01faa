"""One logic and one mapping for arrays of given shapes, lowered to a flat module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eas.septran.files import (
    Machine,
    ResolvedInstance,
    check_constraints,
    check_names,
    require_resolved,
)
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO
from eas.septran.flat.machine import Machine as FlatMachine
from eas.septran.flat.nodes import Module, View
from eas.septran.flat.ranges import Ranges, size
from eas.septran.logic.dimensions import Dimensions, find_dimensions
from eas.septran.logic.tasks import Task
from eas.septran.lowering.accumulators import find_sums
from eas.septran.lowering.arguments import TensorType
from eas.septran.lowering.builder import Bound, Builder, Held
from eas.septran.lowering.checks import check_capacity
from eas.septran.lowering.kernels import make_module
from eas.septran.lowering.legality import check_legality
from eas.septran.lowering.machines import flat_machine
from eas.septran.lowering.names import names_in
from eas.septran.lowering.pipelining import assign_slots
from eas.septran.lowering.residency import settle
from eas.septran.lowering.sizes import with_sizes
from eas.septran.lowering.tree import Node
from eas.support.records import frozen


@frozen
class Lowered:
    """A flat module, the machine's table for it, and the names of the sizes."""

    module: Module
    machine: FlatMachine
    sizes: Mapping[str, int]


def lower(
    tasks: Iterable[Task],
    mapping: MappingFiles,
    arguments: Sequence[TensorType],
) -> Lowered:
    """The flat module of a complete mapping; mistakes are raised all at once."""
    complaints = Complaints()
    by_name = {task.function_name: task for task in tasks}
    check_names(mapping, names_in(by_name))
    instances = require_resolved(mapping)
    assert mapping.entrypoint is not None
    entry = instances[mapping.entrypoint]
    task = by_name[entry.task_name]
    given = _named(task, arguments)
    dimensions = find_dimensions(task, {name: len(each.shape) for name, each in given.items()})
    sizes = _sizes(given, dimensions)
    check_constraints(mapping, sizes)
    bound = _bind(given, entry, mapping, complaints)

    def build(sums: frozenset[str]) -> tuple[list[Node], Builder]:
        builder = Builder(mapping, instances, mapping.machine, by_name, dimensions, complaints)
        builder.sums = sums
        for name in task.parameters:
            builder.fresh(name)
        return builder.run(entry, task, bound, {}, Ranges()), builder

    nodes, builder = build(frozenset())
    complaints.raise_if_any()
    if any(each.dtype.is_float and each.dtype.bits == 16 for each in arguments):
        nodes, builder = build(find_sums(nodes, mapping.machine))
    settled, slots = assign_slots(settle(with_sizes(nodes)), mapping.machine, complaints)
    module = make_module(task.function_name, mapping.machine, given, settled, slots, entry)
    check_unused(mapping, instances, builder, complaints)
    check_capacity(module, mapping, complaints)
    complaints.raise_if_any()
    table = flat_machine(mapping.machine)
    check_legality(module, table, complaints)
    complaints.raise_if_any()
    return Lowered(module, table, sizes)


def _named(task: Task, arguments: Sequence[TensorType]) -> dict[str, TensorType]:
    """The arguments by the names of the task's parameters."""
    if len(task.parameters) != len(arguments):
        raise TypeError(
            f"`{task.function_name}` takes {', '.join(task.parameters)}:"
            f" {len(arguments)} arguments are given"
        )
    return dict(zip(task.parameters, arguments, strict=True))


def _sizes(given: Mapping[str, TensorType], dimensions: Dimensions) -> dict[str, int]:
    """The sizes of the arguments by their names; axes of one name have one size."""
    sizes: dict[str, int] = {}
    for name, argument in given.items():
        letters = dimensions.parameter(name, len(argument.shape))
        for letter, extent in zip(letters, argument.shape, strict=True):
            if sizes.setdefault(letter, extent) != extent:
                other = f"by `{name}` of shape {argument.shape}, {extent}"
                raise ValueError(f"`{letter}` is {sizes[letter]} and, {other}")
    return sizes


def _bind(
    given: Mapping[str, TensorType],
    entry: ResolvedInstance,
    mapping: MappingFiles,
    complaints: Complaints,
) -> dict[str, Bound]:
    """The arguments where they are: in the memory that is global."""
    memory = global_memory(mapping.machine)
    bound: dict[str, Bound] = {}
    for name, argument in given.items():
        extents = tuple(map(size, argument.shape))
        bound[name] = Held(View(name, memory, (ZERO,) * len(extents), extents), argument.dtype)
        wanted = entry.mems.get(name, NONE)
        if wanted not in (memory, NONE):
            wish = f"`{entry.name}` wants `{name}` in {wanted}"
            message = f"the arguments are in {memory}, and {wish}"
            loc = mapping.place("task_mappings", entry.name, "mems", name)
            complaints.add("S205", message, loc)
    return bound


def check_unused(
    mapping: MappingFiles,
    instances: Mapping[str, object],
    builder: Builder,
    complaints: Complaints,
) -> None:
    """Instances that nothing launches."""
    for name in instances:
        if name not in builder.entered:
            loc = mapping.key_place("task_mappings", name)
            message = f"nothing launches the instance `{name}`"
            complaints.add("S202", message, loc, help=["remove it, or name it in `calls`"])


def global_memory(machine: Machine) -> str:
    """Where arguments are."""
    return next(name for name, memory in machine.mems.items() if memory.kind == "global")
