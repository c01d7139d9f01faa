"""Random mappings of the operators in `examples/septran`, and what must hold of each of them.

A mapping is the skeleton for its logic and machine with everything in it drawn anew, from what the
machine and the logic offer: processors, memories, tiles, stages, threads, bindings, padding,
instances for leaves, tunables in callers, and files that extend others. Nothing in it is misspelled
or forgotten: what is refused does not go together. Mistakes are planted by `plant_mistake` alone,
for trials of their own. A mapping is data, is written as YAML, and goes the way of any other.
"""

from __future__ import annotations

import ast
import os
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
from eas.septran.logic.launches import calls_of, launched_tasks
from eas.septran.logic.loading import load_logic
from eas.septran.logic.tasks import Task
from eas.septran.lowering.skeleton import make_skeleton
from eas.septran.operators import load
from eas.support.records import frozen, replace
from tests.septran.operators import (
    EXAMPLES,
    Case,
    Example,
    Sizes,
    attention,
    error_of,
    lack_of,
)

T = TypeVar("T")
Choose = Callable[[Sequence[T]], T]  # one of some options
Data = dict[str, Any]

# `EAS_RANDOM_MAPPINGS` asks for more, and for those that an emulator runs.
ASKED = int(os.environ.get("EAS_RANDOM_MAPPINGS", "0"))
MACHINES = (
    "cpu",
    "apple_gpu",
    "awesomedsa",
    "nvidia_gpu",
    "h100",
    "openblas",
    "gemmini",
    "opencl",
    "arm_sme",
)
TOLERANCE = {"f4": 2e-5, "f2": 2e-2}
RUNS = ("cpu", "apple_gpu", "c", "opencl")

TILES = (1, 3, 7, 8, 12, 16, 16, 16, 32, 32, 32, 33, 48, 64, 64, 96, 128, 160, 256)
EXTENTS = (1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 21, 29, 33, 37, 64, 100, 131, 200, 256)
SHORT_EXTENTS = (1, 2, 5, 8, 9, 13, 16, 17, 29, 37, 64, 130)  # attention takes more steps
WIDTHS = (1, 3, 8, 8, 16, 16, 32, 64)
FEW = (1, 2)
SIDES = (1, 2, 5, 9, 17, 33)  # of images
CHANNELS = (1, 3, 8, 16, 21)
KERNELS = (1, 2, 3, 3, 5)
PADS = (0, 1, 2, 4, 5)
THREADS = (1, 32, 64, 96, 128, 256, 512, 1024, 2048)


@frozen
class Drawn:
    """An operator to draw mappings of: the folder of its example, its entry task, its sizes."""

    folder: str
    entry: str
    sizes: tuple[Sequence[int], ...]


OPERATORS = {
    "gemm": Drawn("gemm", "gemm_host_logic", (EXTENTS,) * 3),
    "batched_gemm": Drawn("batched_gemm", "batched_gemm", (FEW, *(EXTENTS,) * 3)),
    "softmax": Drawn("softmax", "softmax", (EXTENTS,) * 2),
    "layernorm": Drawn("layernorm", "layernorm", (EXTENTS,) * 2),
    "conv2d": Drawn("conv2d", "conv2d", (FEW, SIDES, SIDES, CHANNELS, KERNELS, KERNELS, CHANNELS)),
    "attention": Drawn("flash_attention", "attention", (FEW, SHORT_EXTENTS, SHORT_EXTENTS, WIDTHS)),
    "causal_attention": Drawn(
        "flash_attention", "causal_attention", (FEW, SHORT_EXTENTS, SHORT_EXTENTS, WIDTHS)
    ),
}


@frozen(eq=False)
class Trial:
    """A mapping with the arrays that it is tried with. `base` is a file that it extends."""

    operator: str
    machine: str
    mapping: Data
    sizes: Sizes
    dtype: str
    base: Data | None = None

    @property
    def example(self) -> Example:
        return _example(self.operator)

    @property
    def yaml(self) -> str:
        before = "" if self.base is None else f"# {BASE}\n{to_yaml(self.base)}---\n"
        return before + to_yaml(self.mapping)

    def write(self, folder: Path) -> Path:
        if self.base is not None:
            (folder / BASE).write_text(to_yaml(self.base), "utf-8")
        path = folder / "random.map.yaml"
        path.write_text(to_yaml(self.mapping), "utf-8")
        return path

    def case(self) -> Case:
        if self.operator == "causal_attention":
            return attention(self.sizes, self.dtype, is_causal=True)
        return self.example.make(self.sizes, self.dtype)


BASE = "base.map.yaml"


def _example(operator: str) -> Example:
    folder = OPERATORS[operator].folder
    return next(example for example in EXAMPLES if example.name == folder)


@cache
def _tasks(operator: str) -> dict[str, Task]:
    return load_logic(_example(operator).logic_file).tasks


@cache
def _machine(name: str) -> Machine:
    return load_machine(name)


def draw_trial(operator: str, machine: str, choose: Choose[Any]) -> Trial:
    """A random mapping, with sizes and a dtype."""
    entry = OPERATORS[operator].entry
    mapping = make_skeleton(_tasks(operator), _machine(machine), [entry])
    _Mapper(_tasks(operator), _machine(machine), choose).change(mapping)
    trial = Trial(operator, machine, mapping, _draw_sizes(operator, choose), "")
    is_text = not _machine(machine).runs
    others = ("f4",) * 12 if _is_exacting(_machine(machine)) else ("f4",)
    dtype = choose(("f2", "f2", "f2", "f4") if is_text else (*others, "f4", "f2"))
    trial = replace(trial, dtype=dtype)
    return trial if choose((True, True, True, True, False)) else _split(trial, choose)


def _draw_sizes(operator: str, choose: Choose[Any]) -> Sizes:
    sizes = [choose(offered) for offered in OPERATORS[operator].sizes]
    if operator == "causal_attention":
        sizes[2] = sizes[1]  # as many keys as queries
    return tuple(sizes)


def _split(trial: Trial, choose: Choose[Any]) -> Trial:
    """The same mapping in two files: one with other tiles and stages, and one that extends it."""
    base: Data = {**trial.mapping, "task_mappings": {}}
    changed: Data = {}
    for name, instance in trial.mapping["task_mappings"].items():
        own = {key: instance[key] for key in ("tunables", "pipeline", "mems") if key in instance}
        changed[name] = own
        other = {**instance}
        if "tunables" in own:
            other["tunables"] = {key: choose(TILES) for key in own["tunables"]}
        if "pipeline" in own:
            other["pipeline"] = choose((1, 2, 3))
        if "mems" in own:  # what only the base says stays as it is there
            kept = dict.fromkeys(choose([[], [*own["mems"]][:1]]), "NONE")
            other["mems"] = {**own["mems"], **dict.fromkeys(kept, "NONE")}
        base["task_mappings"][name] = other
    return replace(trial, mapping={"extends": BASE, "task_mappings": changed}, base=base)


def _is_exacting(machine: Machine) -> bool:
    """Whether leaves cannot compute in some memories: then few mappings would be accepted."""
    return any(memory.space is not None for memory in machine.mems.values())


class _Mapper:
    """Draws every value of a mapping anew."""

    def __init__(self, tasks: dict[str, Task], machine: Machine, choose: Choose[Any]) -> None:
        self.tasks = tasks
        self.machine = machine
        self.choose = choose
        self.depth = 1  # of instances below the first: with more of them, each is changed less
        leaves = [each for each in tasks.values() if each.is_leaf]
        self.has_products = any(map(_multiplies, leaves))
        self.piped: Data | None = None  # the one whose loop is pipelined, if there are several

    def often(self, times: int) -> bool:
        """True in all cases but one of `times`."""
        return self.choose([True] * (times - 1) + [False])

    def change(self, mapping: Data) -> None:
        instances: Data = mapping["task_mappings"]
        entry = instances[mapping["entrypoint"]]
        loops = [each for each in instances.values() if each is not entry and self.has_loop(each)]
        self.depth = max(1, len(instances) - 2)
        self.piped = self.choose(loops) if len(loops) > 1 else None
        for name, instance in list(instances.items()):
            for tunable in instance.get("tunables", {}):
                instance["tunables"][tunable] = self.tile()
            if instance is not entry:
                self.processor(instance)
                self.memories(instance)
                self.stages(instance)
                self.threads(instance)
                self.bindings(instance)
                self.leaves(name, instance, instances)
                self.inherited(instance, entry)
        self.constraint(mapping)

    def tile(self) -> int:
        """A tile; on a machine that multiplies whole blocks only, mostly of whole blocks."""
        if _is_exacting(self.machine) and self.often(24):
            return self.choose([tile for tile in TILES if tile % 16 == 0])
        return self.choose(TILES)

    def processor(self, instance: Data) -> None:
        if not self.often(6 * self.depth):
            instance["proc"] = self.choose(list(self.machine.procs))

    def visible(self, instance: Data) -> list[str]:
        """The memories that an instance may name: mostly those that its processor sees."""
        known = self.machine.memories_of(instance["proc"])
        if _is_exacting(self.machine) and self.often(6 if self.has_products else 48):
            return [name for name in known if self.machine.mems[name].space is None]
        return known if self.often(8) else list(self.machine.mems)

    def memories(self, instance: Data) -> None:
        task = self.tasks[instance["task_name"]]
        tensors = list(instance.get("mems", {})) or [
            each for each in self.tensors(task) if not self.often(3)
        ]
        drawn = {name: self.memory(instance, is_first=n == 0) for n, name in enumerate(tensors)}
        instance["mems"] = {name: memory for name, memory in drawn.items() if memory}
        for name in instance.get("locals", {}):
            instance["locals"][name] = self.choose(self.visible(instance))
        padded = [*instance["mems"], *instance.get("locals", {})]
        if padded and not self.often(3):
            name = self.choose(padded)
            instance["layout"] = {name: {"pad": self.choose(PADS)}}

    def memory(self, instance: Data, *, is_first: bool) -> str:
        """A memory; an empty one is that of the caller, like `NONE`.

        Where rows in registers belong to threads, mostly the first tensor, the result, is there:
        others are read across rows.
        """
        visible = self.visible(instance)
        if "opencl" in self.machine.targets and not is_first and self.often(4):
            visible = [each for each in visible if self.machine.mems[each].kind != "registers"]
        if _is_exacting(self.machine) and self.often(6):
            visible = self.multiplied(visible, is_first=is_first)
        return self.choose([*visible, *visible, *visible[1:], "", "NONE"])

    def placed(self, instance: Data, *, is_first: bool) -> str:
        """A memory for a tensor of a leaf."""
        visible = self.visible(instance)
        if _is_exacting(self.machine) and self.often(6):
            visible = self.multiplied(visible, is_first=is_first) or visible
        return self.choose(visible)

    def multiplied(self, memories: list[str], *, is_first: bool) -> list[str]:
        """Those of some memories in which the machine's product takes its result, or factors."""
        mems = self.machine.primitives["gemm"][0].mems
        operands = ("C",) if is_first else ("A", "B")
        return [each for each in memories if all(each in mems.get(o, memories) for o in operands)]

    def tensors(self, task: Task) -> list[str]:
        """The parameters of a task that are no numbers."""
        return [each for each in task.parameters if each not in ("scale", "row", "column")]

    def stages(self, instance: Data) -> None:
        is_piped = self.has_loop(instance) and self.piped in (None, instance)
        if not is_piped and self.often(12):
            return
        depth = self.choose((1, 1, 2, 2, 3, 4))
        if self.often(4):
            instance["pipeline"] = depth
        else:
            instance.setdefault("tunables", {})["pipeline_depth"] = depth

    def has_loop(self, instance: Data) -> bool:
        task = self.tasks[instance["task_name"]]
        return any(True for _ in calls_of(task, "sequential_range"))

    def threads(self, instance: Data) -> None:
        if self.often(2 * self.depth + 1):
            return
        level = self.machine.procs[instance["proc"]]
        most = level.max_threads or level.threads
        offered = [each for each in THREADS if each <= most]
        has_threads = any(each.max_threads for each in self.machine.procs.values())
        instance["threads"] = self.choose(
            offered if self.often(3 if has_threads else 8) else THREADS
        )

    def bindings(self, instance: Data) -> None:
        products = [each for each in self.leaves_of(instance) if _multiplies(each)]
        if products and not self.often(5):
            gemms = [each.name for each in self.machine.primitives["gemm"]] * 12
            others = [each.name for each in self.machine.primitives["exp"]]
            instance["leaf_task_bindings"] = {
                self.choose(products).function_name: self.choose([*gemms, *others])
            }

    def leaves(self, name: str, instance: Data, instances: Data) -> None:
        """Instances of their own for some leaves."""
        for leaf in self.leaves_of(instance):
            if self.often(4):
                continue
            procs = list(self.machine.procs)
            below = procs[procs.index(instance["proc"]) :] if self.often(6) else procs
            own: Data = {
                "task_name": leaf.function_name,
                "proc": self.choose([below[0], below[0], *below]),
            }
            placed = [each for each in self.tensors(leaf) if not self.often(3)]
            first = self.tensors(leaf)[:1]
            own["mems"] = {each: self.placed(own, is_first=[each] == first) for each in placed}
            instances[f"{name}_{leaf.function_name}"] = own
            instance.setdefault("calls", {})[leaf.function_name] = f"{name}_{leaf.function_name}"

    def inherited(self, instance: Data, entry: Data) -> None:
        """Some tunables stand in the caller, which hands them down."""
        if self.often(4):
            return
        moved = instance.pop("tunables", {})
        depth = {key: moved.pop(key) for key in ("pipeline_depth",) if key in moved}
        if depth:
            instance["tunables"] = depth
        entry.setdefault("tunables", {}).update(moved)

    def constraint(self, mapping: Data) -> None:
        """Some mappings say which tiles they are for."""
        if not self.often(24):
            name = mapping["entrypoint"]
            tunable = self.choose(list(mapping["task_mappings"][name]["tunables"]))
            mapping["constraints"] = [f"{name}.{tunable} <= {self.choose(TILES)}"]

    def leaves_of(self, instance: Data) -> list[Task]:
        task = self.tasks[instance["task_name"]]
        several = {each.function_name: each for each in launched_tasks(task) if each.is_leaf}
        return list(several.values())


def _multiplies(leaf: Task) -> bool:
    has_product = any(isinstance(node, ast.MatMult) for node in ast.walk(leaf.source.node))
    return has_product or any(True for _ in calls_of(leaf, "call_primitive"))


def _last(mapping: Data) -> Data:
    instances: Data = mapping["task_mappings"]
    return list(instances.values())[-1]


def forget_a_call(mapping: Data) -> None:
    mapping["task_mappings"][mapping["entrypoint"]].pop("calls")


def forget_a_tunable(mapping: Data) -> None:
    mapping["task_mappings"][mapping["entrypoint"]]["tunables"].popitem()


def forget_a_local(mapping: Data) -> None:
    for instance in mapping["task_mappings"].values():
        if instance.get("locals"):
            instance["locals"].popitem()
            return


def misspell_a_memory(mapping: Data) -> None:
    _last(mapping).setdefault("mems", {}).update({"A": "SHRED"})


def misspell_a_parameter(mapping: Data) -> None:
    _last(mapping).setdefault("mems", {}).update({"AA": "GLOBAL"})


def misspell_a_processor(mapping: Data) -> None:
    _last(mapping)["proc"] = "BLOK"


def add_an_instance(mapping: Data) -> None:
    mapping["task_mappings"]["nobody"] = {**_last(mapping), "calls": {}}


def add_a_tunable(mapping: Data) -> None:
    _last(mapping).setdefault("tunables", {}).update({"colour": 3})


def add_a_constraint(mapping: Data) -> None:
    name = mapping["entrypoint"]
    tunable = next(iter(mapping["task_mappings"][name]["tunables"]), "x")
    mapping["constraints"] = [f"{name}.{tunable} % 32 == 0"]


def swap_instances(mapping: Data) -> None:
    entry = mapping["task_mappings"][mapping["entrypoint"]]
    entry["calls"] = dict.fromkeys(entry["calls"], mapping["entrypoint"])


def ask_for_no_threads(mapping: Data) -> None:
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


def plant_mistake(trial: Trial, choose: Choose[Any]) -> Trial:
    """A trial whose mapping has a mistake that a person could make."""
    mapping = trial.mapping if trial.base is None else trial.base
    choose(MISTAKES)(mapping)
    return replace(trial, mapping=mapping, base=None)


def try_mapping(trial: Trial, folder: Path, *, is_compiled: bool = True) -> frozenset[str]:
    """The codes with which a mapping is refused; none if it is accepted, and then it is right."""
    try:
        _run(trial, trial.write(folder), is_compiled)
    except eas.CompileError as error:
        codes = frozenset(diagnostic.code for diagnostic in error.diagnostics)
        assert codes and codes <= set(TITLES), error
        assert "driver" not in str(error), error  # one that crashes is no refusal
        return codes
    return frozenset()


def _run(trial: Trial, path: Path, is_compiled: bool) -> None:
    """The flat module is legal and right; so is what runs; texts are written."""
    operator = load(trial.example.logic_file, path, checked=True)
    arrays, expected = trial.case()
    lowered = operator.build_flat(*arrays)
    assert find_violations(lowered.module, lowered.machine) == []
    run_module(lowered.module, arrays, machine=lowered.machine)
    assert error_of(arrays[0], expected) <= TOLERANCE[trial.dtype], "the flat module is wrong"
    arrays, _ = trial.case()
    is_slow = operator.machine.emulator is not None and not ASKED
    if operator.target not in RUNS or lack_of(operator) or is_slow:
        operator.check(*arrays)
    elif is_compiled:
        operator(*arrays)
        assert error_of(arrays[0], expected) <= TOLERANCE[trial.dtype], (
            f"{operator.target} is wrong"
        )
