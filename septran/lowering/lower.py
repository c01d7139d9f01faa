"""One logic and one mapping for arrays of given shapes, lowered to a flat module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eas.septran.files import (
    Machine,
    ResolvedInstance,
    check_constraints,
    check_names,
    pick,
    require_resolved,
)
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO
from eas.septran.flat.machine import Machine as FlatMachine
from eas.septran.flat.nodes import Module, View
from eas.septran.flat.ranges import size
from eas.septran.logic.arguments import check_count, check_ranks, sizes_of
from eas.septran.logic.dimensions import Dimensions, declared_names, find_dimensions
from eas.septran.logic.launches import launched_tasks
from eas.septran.logic.tasks import Task
from eas.septran.lowering.accumulators import Sums, find_sums
from eas.septran.lowering.arguments import TensorType
from eas.septran.lowering.builder import Builder
from eas.septran.lowering.checks import check_capacity, named_numbers
from eas.septran.lowering.empty import drop_empty
from eas.septran.lowering.kernels import make_module
from eas.septran.lowering.leaf_builder import Held
from eas.septran.lowering.legality import check_legality
from eas.septran.lowering.machines import flat_machine
from eas.septran.lowering.names import names_in
from eas.septran.lowering.pipelining import assign_slots
from eas.septran.lowering.residency import settle
from eas.septran.lowering.single_trips import inline_single_trips
from eas.septran.lowering.sizes import with_sizes
from eas.septran.lowering.split_reductions import Tensors, split_reductions
from eas.septran.lowering.tree import Node
from eas.support.diagnostics import Label
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
    reserved: int = 0,
) -> Lowered:
    """The flat module of a complete mapping; mistakes are raised all at once.

    Its target takes `reserved` bytes of scratch memories for itself.
    """
    complaints = Complaints()
    by_name = {task.function_name: task for task in tasks}
    check_names(mapping, names_in(by_name))
    instances = require_resolved(mapping)
    assert mapping.entrypoint is not None
    entry = instances[mapping.entrypoint]
    task = by_name[entry.task_name]
    dimensions, sizes = find_sizes(task, arguments)
    given = dict(zip(task.parameters, arguments, strict=True))
    pick([mapping], sizes)
    check_constraints(mapping, sizes)
    bound = _bind(given, task, entry, mapping, complaints)

    named = named_numbers(instances, sizes)

    def build(sums: Sums | None) -> tuple[list[Node], Builder]:
        files = (mapping, instances, mapping.machine)
        builder = Builder(*files, by_name, dimensions, complaints, named)
        builder.sums = sums
        for name in task.parameters:
            builder.fresh(name)
        return builder.run_entry(entry, task, bound), builder

    is_narrow = any(each.dtype.is_float and each.dtype.bits == 16 for each in arguments)
    nodes, builder = build(None if is_narrow else Sums())
    complaints.raise_if_any()
    if is_narrow:
        nodes, builder = build(find_sums(nodes, mapping.machine))
        complaints.raise_if_any()
    memory = global_memory(mapping.machine)
    known = Tensors(memory, {name: (each.shape, each.dtype) for name, each in given.items()})
    sized = inline_single_trips(drop_empty(with_sizes(nodes)))
    split = split_reductions(sized, mapping.machine, known, builder.fresh, complaints)
    settled = settle(split)
    settled, slots = assign_slots(settled, mapping.machine, complaints)
    name, machine = task.function_name, mapping.machine
    kept = {each for each, use in builder.uses.items() if use.read or not use.covers}
    module = make_module(name, machine, given, settled, slots, complaints, reserved, kept)
    check_unused(mapping, instances, builder, complaints)
    check_loops(mapping, instances, builder, complaints)
    check_capacity(module, mapping, named, complaints)
    complaints.raise_if_any()
    table = flat_machine(mapping.machine)
    check_legality(module, table, complaints)
    complaints.raise_if_any()
    return Lowered(module, table, sizes)


def find_sizes(task: Task, arguments: Sequence[TensorType]) -> tuple[Dimensions, dict[str, int]]:
    """The names of the sizes of all tensors, and the values of those of the arguments."""
    check_count(task, len(arguments))
    shapes = {n: each.shape for n, each in zip(task.parameters, arguments, strict=True)}
    check_ranks(task, shapes, declared_names(task) or {})
    ranks = {name: len(shape) for name, shape in shapes.items()}
    dimensions = find_dimensions(task, ranks)
    return dimensions, sizes_of(task, shapes, dimensions.parameters(ranks))


def _bind(
    given: Mapping[str, TensorType],
    task: Task,
    entry: ResolvedInstance,
    mapping: MappingFiles,
    complaints: Complaints,
) -> dict[str, Held]:
    """The arguments where they are: in the memory that is global.

    An inner task takes them from there; a leaf that is called by itself may have copies.
    """
    memory = global_memory(mapping.machine)
    bound: dict[str, Held] = {}
    for name, argument in given.items():
        extents = tuple(map(size, argument.shape))
        bound[name] = Held(View(name, memory, (ZERO,) * len(extents), extents), argument.dtype)
        wanted = entry.mems.get(name, NONE)
        if wanted not in (memory, NONE) and not task.is_leaf:
            wish = f"`{entry.name}` wants `{name}` in {wanted}"
            message = f"the arguments are in {memory}, and {wish}"
            loc = mapping.place("task_mappings", entry.name, "mems", name)
            complaints.add("S205", message, loc)
    return bound


def check_unused(
    mapping: MappingFiles,
    instances: Mapping[str, ResolvedInstance],
    builder: Builder,
    complaints: Complaints,
) -> None:
    """Instances that nothing launches, whatever the sizes are."""
    assert mapping.entrypoint is not None
    launched = {*builder.entered, *_reached(mapping.entrypoint, instances, builder.tasks)}
    for name in instances:
        if name not in launched:
            loc = mapping.key_place("task_mappings", name)
            message = f"nothing launches the instance `{name}`"
            complaints.add("S202", message, loc, help=["remove it, or name it in `calls`"])


def _reached(
    entry: str, instances: Mapping[str, ResolvedInstance], tasks: Mapping[str, Task]
) -> set[str]:
    """The instances at and below one that stand in launches, also under conditions that fail."""
    found: set[str] = set()
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        task = tasks.get(instances[name].task_name)
        if name in found or task is None:
            continue
        found.add(name)
        names = {each for callee in launched_tasks(task) for each in callee.names}
        calls = instances[name].calls
        waiting += [calls[key] for key in calls if key in names and calls[key] in instances]
    return found


def check_loops(
    mapping: MappingFiles,
    instances: Mapping[str, ResolvedInstance],
    builder: Builder,
    complaints: Complaints,
) -> None:
    """Pipelines of instances that have no loop to be pipelined."""
    for name in builder.entered - builder.looping:
        instance = instances[name]
        if instance.pipeline > 1:
            task = builder.tasks[instance.task_name]
            loc = mapping.place("task_mappings", name, *instance.pipeline_path)
            message = f"`{instance.task_name}` has no sequential loop that could be pipelined"
            label = Label(task.loc, "the task of the instance")
            help = ["set `pipeline: 1`, or move it to the instance of the task with the loop"]
            complaints.add("S502", message, loc, secondary=[label], help=help)


def global_memory(machine: Machine) -> str:
    """Where arguments are."""
    return next(name for name, memory in machine.mems.items() if memory.kind == "global")
