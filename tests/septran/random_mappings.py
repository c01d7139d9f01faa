"""Random mappings of the operators in `examples/septran`, and what must hold of each of them.

A mapping is the skeleton for its logic and machine with everything in it drawn anew: tiles,
memories, stages, bindings, padding, processors, and instances for leaves. It is data, which is
written as YAML, and goes the way of any other mapping.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import eas
from eas.septran.codes import TITLES
from eas.septran.files import Machine, load_machine
from eas.septran.files.writing import to_yaml
from eas.septran.flat.interpret import run_module
from eas.septran.flat.verify import find_violations
from eas.septran.logic.loading import load_logic
from eas.septran.logic.tasks import Task
from eas.septran.lowering.names import calls_of, launched_tasks
from eas.septran.lowering.skeleton import make_skeleton
from eas.septran.operators import load
from eas.support.records import frozen
from tests.septran.operators import EXAMPLES, Case, Example, Sizes, attention, error_of

T = TypeVar("T")
Choose = Callable[[Sequence[T]], T]  # one of some options

MACHINES = ("cpu", "apple_gpu", "awesomedsa", "nvidia_gpu", "h100")
OPERATORS = ("gemm", "softmax", "attention", "causal_attention")
TOLERANCE = {"f4": 2e-5, "f2": 2e-2}
RUNS = ("cpu", "apple_gpu", "c")

# Most are multiples of what primitives take: other tiles are refused where a primitive is bound.
TILES = (1, 3, 7, 8, 8, 12, 16, 16, 16, 16, 16, 32, 32, 32, 33, 48, 64, 96, 160)
EXTENTS = (1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 21, 29, 33, 37)
PADS = (0, 1, 1, 2, 4, 5)


@frozen(eq=False)
class Trial:
    """A mapping with the arrays that it is tried with."""

    operator: str
    machine: str
    mapping: dict[str, Any]
    sizes: Sizes
    dtype: str

    @property
    def example(self) -> Example:
        return _example(self.operator)

    @property
    def yaml(self) -> str:
        return to_yaml(self.mapping)

    def case(self) -> Case:
        if self.operator == "causal_attention":
            return attention(self.sizes, self.dtype, is_causal=True)
        return self.example.make(self.sizes, self.dtype)


def _example(operator: str) -> Example:
    name = "flash_attention" if operator.endswith("attention") else operator
    return next(example for example in EXAMPLES if example.name == name)


@cache
def _tasks(operator: str) -> dict[str, Task]:
    return load_logic(_example(operator).logic_file).tasks


@cache
def _machine(name: str) -> Machine:
    return load_machine(name)


def draw_trial(operator: str, machine: str, choose: Choose[Any]) -> Trial:
    """A random mapping, with sizes and a dtype."""
    entry = "gemm_host_logic" if operator == "gemm" else operator
    mapping = make_skeleton(_tasks(operator), _machine(machine), [entry])
    _Mapper(_tasks(operator), _machine(machine), choose).change(mapping)
    if operator.endswith("attention"):
        queries = choose(EXTENTS[:10])
        keys = queries if operator.startswith("causal") else choose(EXTENTS[:10])
        sizes: Sizes = (choose((1, 2)), queries, keys, choose((1, 3, 8, 8, 16)))
    else:
        sizes = tuple(choose(EXTENTS) for _ in range(3 if operator == "gemm" else 2))
    is_text = not _machine(machine).runs
    dtype = choose(("f2", "f2", "f2", "f4") if is_text else ("f4", "f4", "f2"))
    return Trial(operator, machine, mapping, sizes, dtype)


def _last(mapping: dict[str, Any]) -> dict[str, Any]:
    instances: dict[str, Any] = mapping["task_mappings"]
    return list(instances.values())[-1]


def forget_a_call(mapping: dict[str, Any]) -> None:
    mapping["task_mappings"][mapping["entrypoint"]].pop("calls")


def forget_a_tunable(mapping: dict[str, Any]) -> None:
    mapping["task_mappings"][mapping["entrypoint"]]["tunables"].popitem()


def forget_a_local(mapping: dict[str, Any]) -> None:
    for instance in mapping["task_mappings"].values():
        if instance.get("locals"):
            instance["locals"].popitem()
            return


def misspell_a_memory(mapping: dict[str, Any]) -> None:
    _last(mapping).setdefault("mems", {}).update({"A": "SHRED"})


def misspell_a_parameter(mapping: dict[str, Any]) -> None:
    _last(mapping).setdefault("mems", {}).update({"AA": "GLOBAL"})


def misspell_a_processor(mapping: dict[str, Any]) -> None:
    _last(mapping)["proc"] = "BLOK"


def add_an_instance(mapping: dict[str, Any]) -> None:
    mapping["task_mappings"]["nobody"] = {**_last(mapping), "calls": {}}


def add_a_tunable(mapping: dict[str, Any]) -> None:
    _last(mapping).setdefault("tunables", {}).update({"colour": 3})


def add_a_constraint(mapping: dict[str, Any]) -> None:
    name = mapping["entrypoint"]
    tunable = next(iter(mapping["task_mappings"][name]["tunables"]), "x")
    mapping["constraints"] = [f"{name}.{tunable} % 32 == 0"]


def swap_instances(mapping: dict[str, Any]) -> None:
    entry = mapping["task_mappings"][mapping["entrypoint"]]
    entry["calls"] = dict.fromkeys(entry["calls"], mapping["entrypoint"])


def ask_for_no_threads(mapping: dict[str, Any]) -> None:
    _last(mapping)["threads"] = 0


MISTAKES = (
    forget_a_call,
    forget_a_tunable,
    forget_a_local,
    misspell_a_memory,
    misspell_a_parameter,
    misspell_a_processor,
    add_an_instance,
    add_a_tunable,
    add_a_constraint,
    swap_instances,
    ask_for_no_threads,
)


class _Mapper:
    """Draws every value of a mapping anew."""

    def __init__(self, tasks: dict[str, Task], machine: Machine, choose: Choose[Any]) -> None:
        self.tasks = tasks
        self.machine = machine
        self.choose = choose

    def often(self, times: int) -> bool:
        """True in all cases but one of `times`."""
        return self.choose([True] * (times - 1) + [False])

    def change(self, mapping: dict[str, Any]) -> None:
        instances: dict[str, Any] = mapping["task_mappings"]
        for name, instance in list(instances.items()):
            is_entry = name == mapping["entrypoint"]
            for tunable in instance.get("tunables", {}):
                instance["tunables"][tunable] = self.choose(TILES)
            if is_entry:
                continue
            self.processor(instance)
            self.memories(instance, self.tasks[instance["task_name"]])
            self.stages(instance)
            self.bindings(instance)
            self.leaves(name, instance, instances)
        if not self.often(6):
            self.choose(MISTAKES)(mapping)

    def processor(self, instance: dict[str, Any]) -> None:
        if not self.often(16):
            instance["proc"] = self.choose(list(self.machine.procs))

    def memories(self, instance: dict[str, Any], task: Task) -> None:
        visible = self.machine.memories_of(instance["proc"])
        if not self.often(24):
            visible = list(self.machine.mems)
        tensors = list(instance.get("mems", {}))
        drawn = {name: self.memory(visible) for name in tensors}
        instance["mems"] = {name: memory for name, memory in drawn.items() if memory}
        for name in instance.get("locals", {}):
            instance["locals"][name] = self.choose([*visible[1:], *visible[1:], *visible])
        padded = [*tensors, *instance.get("locals", {})]
        if padded and not self.often(3):
            name = self.choose(padded)
            instance["layout"] = {name: {"pad": self.choose(PADS)}}

    def memory(self, visible: Sequence[str]) -> str:
        """A memory, mostly a fast one; none is that of the caller."""
        fast = [*visible[1:]] * 4
        return self.choose([*fast, *visible, "", "NONE"])

    def stages(self, instance: dict[str, Any]) -> None:
        task = self.tasks[instance["task_name"]]
        has_loop = any(True for _ in calls_of(task, "sequential_range"))
        if has_loop or not self.often(12):
            instance["pipeline"] = self.choose((1, 1, 1, 2, 2, 3, 4))

    def bindings(self, instance: dict[str, Any]) -> None:
        leaves = [each for each in self.leaves_of(instance) if _multiplies(each)]
        if leaves and not self.often(3):
            gemms = [each.name for each in self.machine.primitives["gemm"]] * 8
            others = [each.name for each in self.machine.primitives["exp"]]
            instance["leaf_task_bindings"] = {
                self.choose(leaves).function_name: self.choose([*gemms, *others])
            }

    def leaves(self, name: str, instance: dict[str, Any], instances: dict[str, Any]) -> None:
        """Instances of their own for some leaves."""
        for leaf in self.leaves_of(instance):
            if self.often(5):
                continue
            level = list(self.machine.procs).index(instance["proc"])
            below = list(self.machine.procs)[level:]
            proc = self.choose([below[0]] * 8 + below)
            visible = self.machine.memories_of(proc)
            tensors = [each for each in leaf.parameters if each not in ("scale", "row", "column")]
            placed = [each for each in tensors if not self.often(2)]
            own = f"{name}_{leaf.function_name}"
            instances[own] = {
                "task_name": leaf.function_name,
                "proc": proc,
                "mems": {each: self.choose(visible) for each in placed},
            }
            instance.setdefault("calls", {})[leaf.function_name] = own

    def leaves_of(self, instance: dict[str, Any]) -> list[Task]:
        task = self.tasks[instance["task_name"]]
        several = {each.function_name: each for each in launched_tasks(task) if each.is_leaf}
        return list(several.values())


def _multiplies(leaf: Task) -> bool:
    has_product = any(isinstance(node, ast.MatMult) for node in ast.walk(leaf.source.node))
    return has_product or any(True for _ in calls_of(leaf, "call_primitive"))


def try_mapping(trial: Trial, folder: Path, *, is_compiled: bool = True) -> frozenset[str]:
    """The codes with which a mapping is refused; none if it is accepted, and then it is right."""
    path = folder / "random.map.yaml"
    path.write_text(trial.yaml, "utf-8")
    try:
        _run(trial, path, is_compiled)
    except eas.CompileError as error:
        codes = frozenset(diagnostic.code for diagnostic in error.diagnostics)
        assert codes and codes <= set(TITLES), error
        return codes
    return frozenset()


def _run(trial: Trial, path: Path, is_compiled: bool) -> None:
    operator = load(trial.example.logic_file, path, checked=True)
    arrays, expected = trial.case()
    lowered = operator.build_flat(*arrays)
    assert find_violations(lowered.module, lowered.machine) == []
    run_module(lowered.module, arrays, machine=lowered.machine)
    assert error_of(arrays[0], expected) <= TOLERANCE[trial.dtype], "the flat module is wrong"
    if not is_compiled or operator.target not in RUNS:
        return
    arrays, _ = trial.case()
    operator(*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE[trial.dtype], f"{operator.target} is wrong"
