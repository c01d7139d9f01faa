"""Names in a mapping: each must be that of an instance, or be known to the machine or the logic.

`check_tree` runs when a mapping is loaded. It looks at the tree and not at the models, so that a
file with a wrong key has its wrong names reported too. `check_names` is for callers with a logic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from eas.septran.files import nodes
from eas.septran.files.complaints import Complaints, quoted, suggest
from eas.septran.files.conditions import parse_conditions
from eas.septran.files.expressions import names_in
from eas.septran.files.machine import Machine
from eas.septran.files.mapping import NONE, Instance, MappingFile
from eas.septran.files.nodes import Items, Map, Node, Scalar
from eas.septran.files.tune_tags import MOST_STAGES
from eas.support.close_names import close_matches
from eas.support.location import Loc
from eas.support.records import frozen

if TYPE_CHECKING:
    from eas.septran.files.merge import Mapping as LoadedMapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")

# Tunables that any instance may have: the tiles of `shape_from`, and another name of `pipeline`.
OPEN_TUNABLES = ("block_size", "pipeline_depth")


def check_tree(
    root: Map, machine: Machine | None, primitives: Collection[str], complaints: Complaints
) -> None:
    """Complain about names of processors, memories, primitives, instances, and in conditions."""
    instances = dict(_instances(root))
    is_complete = nodes.child(root, "entrypoint") is not None
    if is_complete:
        procs = () if machine is None else machine.procs
        _check_instances(root, instances, procs, complaints)
    if machine is not None:
        for _, instance in _alternatives(instances):
            _check_machine_names(instance, machine, primitives, complaints)
    for _, instance in _alternatives(instances):
        _check_tunables(instance, complaints)
    for instance in instances.values():
        _check_listed(instance, complaints)
    _check_conditions(root, instances, is_complete, complaints)


def _instances(root: Map) -> Iterator[tuple[str, Map]]:
    mappings = nodes.child(root, "task_mappings")
    if isinstance(mappings, Map):
        for name, entry in mappings.entries.items():
            if isinstance(entry.value, Map):
                yield name, entry.value


def _alternatives(instances: dict[str, Map]) -> Iterator[tuple[str, Map]]:
    """Every instance, and for a `!tune` each one that it lists."""
    for name, instance in instances.items():
        listed = nodes.child(instance, "values") if instance.is_tune else None
        if isinstance(listed, Items):
            yield from ((name, each) for each in listed.items if isinstance(each, Map))
        elif not instance.is_tune:
            yield name, instance


def _texts(node: Node | None) -> Iterator[Scalar]:
    """The names that a value can be: itself, or what its `!tune` lists."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        if _NAME.fullmatch(node.value):  # of any other text the model has said that it is no name
            yield node
    elif isinstance(node, Map) and node.is_tune:
        yield from _texts(nodes.child(node, "values"))
    elif isinstance(node, Items):
        for each in node.items:
            if isinstance(each, Scalar):
                yield from _texts(each)


def _values_of(instance: Map, key: str) -> Iterator[tuple[str, Node]]:
    node = nodes.child(instance, key)
    if isinstance(node, Map):
        yield from ((name, entry.value) for name, entry in node.entries.items())


def _check_instances(
    root: Map, instances: dict[str, Map], procs: Collection[str], complaints: Complaints
) -> None:
    """A complete mapping says for each instance what it runs and where, and calls only its own."""
    if instances or not _is_misspelled(root, "task_mappings"):
        for scalar in _texts(nodes.child(root, "entrypoint")):
            _require_instance(scalar, instances, complaints)
    ways = {"task_name": "a task of the logic", "proc": " or ".join(procs) or "a processor"}
    for name, instance in _alternatives(instances):
        for key, way in ways.items():
            if nodes.child(instance, key) is None and not _is_misspelled(instance, key):
                loc = nodes.key_place(root, ["task_mappings", name])
                message = f"the instance `{name}` has no `{key}`"
                complaints.add("S107", message, loc, help=[f"add `{key}:` with {way}"])
        for _, value in _values_of(instance, "calls"):
            for scalar in _texts(value):
                _require_instance(scalar, instances, complaints)


def _is_misspelled(holder: Map, key: str) -> bool:
    """Whether a key is there under another name: of that name it is said that it is unknown."""
    known = {*Instance.model_fields, *MappingFile.model_fields}
    return any(close_matches(name, [key]) for name in holder.entries if name not in known)


def _require_instance(scalar: Scalar, instances: Collection[str], complaints: Complaints) -> None:
    name = str(scalar.value)
    if name not in instances:
        help = suggest(name, instances, "there are")
        message = f"`task_mappings` has no instance {quoted(name)}"
        complaints.add("S118", message, scalar.loc, help=help)


def _check_machine_names(
    instance: Map,
    machine: Machine,
    primitives: Collection[str],
    complaints: Complaints,
) -> None:
    for scalar in _texts(nodes.child(instance, "proc")):
        if scalar.value not in machine.procs:
            message = f"`{machine.name}` has no processor {quoted(str(scalar.value))}"
            help = suggest(str(scalar.value), machine.procs, "it has")
            complaints.add("S115", message, scalar.loc, help=help)
    for key in ("mems", "locals"):
        for _, value in _values_of(instance, key):
            for scalar in _texts(value):
                if scalar.value not in machine.mems and scalar.value != NONE:
                    message = f"`{machine.name}` has no memory {quoted(str(scalar.value))}"
                    help = suggest(str(scalar.value), machine.mems, "it has")
                    complaints.add("S116", message, scalar.loc, help=help)
    known = [*machine.primitive_names(), *primitives]
    for _, value in _values_of(instance, "leaf_task_bindings"):
        for scalar in _texts(value):
            if scalar.value not in known:
                message = f"`{machine.name}` has no primitive {quoted(str(scalar.value))}"
                help = suggest(str(scalar.value), known, "it has")
                complaints.add("S117", message, scalar.loc, help=help)


def _check_tunables(instance: Map, complaints: Complaints) -> None:
    """`gemm.pipeline` in an expression is the instance's own key, and no tunable."""
    for name, value in _values_of(instance, "tunables"):
        if name in Instance.model_fields:
            loc = nodes.key_place(instance, ["tunables", name])
            complaints.add("S110", f"`{name}` is a key of instances, no tunable", loc)
        if name == "pipeline_depth" and not all(map(_is_depth, _numbers(value))):
            message = f"`pipeline_depth` is a number from 1 to {MOST_STAGES}"
            complaints.add("S109", message, value.loc)


def _is_depth(value: object) -> bool:
    return type(value) is int and 1 <= value <= MOST_STAGES


def _numbers(value: Node) -> Iterator[object]:
    """The numbers and texts in a value, or in its `!tune`."""
    if isinstance(value, Scalar):
        yield value.value
    for pattern in (["values", "*"], ["low"]):
        for _, each in nodes.match(value, pattern):
            yield from _numbers(each)


def _check_listed(instance: Map, complaints: Complaints) -> None:
    """What a `!tune` of whole instances lists is closed itself."""
    if not instance.is_tune:
        return
    for depth in (1, 2, 3):  # `pipeline`, `mems.A`, `layout.A.pad`
        for _, node in nodes.match(instance, ["values", "*", *depth * ["*"]]):
            if isinstance(node, Map) and node.is_tune:
                complaints.add("S123", "a `!tune` cannot be inside of another one", node.loc)


def _check_conditions(
    root: Map, instances: dict[str, Map], is_complete: bool, complaints: Complaints
) -> None:
    """`gemm.block_m` in a constraint is a tunable of `gemm`; a name without a dot is a size."""
    for scalar, term in parse_conditions(root, "constraints", complaints):
        for named in names_in(term):
            if is_complete and "." in named.name:  # an overlay may speak of other files
                loc = scalar.part(named.start, named.end)
                _check_number(named.name, loc, instances, complaints)
    for scalar, term in parse_conditions(root, "when", complaints):
        for named in names_in(term):
            if "." in named.name:
                message = f"{quoted(named.name)} is no size: `when` is decided by sizes alone"
                complaints.add("S122", message, scalar.part(named.start, named.end))


def _check_number(name: str, loc: Loc, instances: dict[str, Map], complaints: Complaints) -> None:
    owner, _, key = name.rpartition(".")
    if owner not in instances:
        message = f"`task_mappings` has no instance {quoted(owner)}"
        complaints.add("S122", message, loc, help=suggest(owner, instances, "there are"))
        return
    known = _numbers_of(instances[owner])
    if key not in known:
        message = f"{quoted(owner)} has no tunable {quoted(key)}"
        complaints.add("S122", message, loc, help=suggest(key, known, "it has"))


def _numbers_of(instance: Map) -> list[str]:
    """What an expression may ask of an instance."""
    several = {"task_mappings": instance}
    found = [name for _, each in _alternatives(several) for name, _ in _values_of(each, "tunables")]
    return list(dict.fromkeys([*found, "pipeline", "threads"]))


@frozen
class TaskNames:
    """The names in a task of the logic: what a mapping may say something about.

    `tunables` are those that the task or one below it asks for, `launches` the tasks that it
    launches, by their own names and by those of their functions, `leaves` the leaf tasks below it.
    They are only some of them if names in the texts of these tasks are undefined: `is_partial`.
    """

    parameters: Collection[str]
    locals: Collection[str] = ()
    tunables: Collection[str] = ()
    launches: Collection[str] = ()
    leaves: Collection[str] = ()
    is_partial: bool = False


def check_names(mapping: LoadedMapping, tasks: Mapping[str, TaskNames]) -> None:
    """Raise an error for names of a mapping that its logic does not have."""
    complaints = Complaints()
    check_tree_names(mapping.root, tasks, complaints)
    complaints.raise_if_any()


def check_tree_names(root: Map, tasks: Mapping[str, TaskNames], complaints: Complaints) -> None:
    """Complain about names of a mapping that its logic does not have."""
    for _, instance in _alternatives(dict(_instances(root))):
        for scalar in _texts(nodes.child(instance, "task_name")):
            task = tasks.get(str(scalar.value))
            if task is None:
                help = suggest(str(scalar.value), tasks, "there are")
                message = f"the logic has no task {quoted(str(scalar.value))}"
                complaints.add("S119", message, scalar.loc, help=help)
            else:
                _check_keys(instance, str(scalar.value), task, complaints)


def _check_keys(instance: Map, task: str, known: TaskNames, complaints: Complaints) -> None:
    tensors = [*known.parameters, *known.locals]
    for section, code, what, names in (
        ("mems", "S125", "parameter", known.parameters),
        ("locals", "S125", "local tensor", known.locals),
        ("layout", "S125", "tensor", tensors),
        ("tunables", "S120", "tunable", known.tunables),
        ("calls", "S119", "launch of", known.launches),
        ("leaf_task_bindings", "S119", "leaf task", known.leaves),
    ):
        if known.is_partial and section != "mems":
            continue  # a name may be missing in the logic: that is what is said
        for key, _ in _values_of(instance, section):
            is_open = section == "tunables" and key.startswith(OPEN_TUNABLES)
            if key not in names and not is_open:
                loc = nodes.key_place(instance, [section, key])
                message = f"the task `{task}` has no {what} {quoted(key)}"
                complaints.add(code, message, loc, help=suggest(key, names, "it has"))
