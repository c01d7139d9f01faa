"""Operators: a logic with a mapping, to be called with arrays, printed and explained."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import eas
from eas.compiler import load_code_generator
from eas.ir.types import DTYPES, DType
from eas.septran.alternatives import check_alternatives, choose
from eas.septran.files import Instance, Machine, alternatives, complete, load_mapping, resolve
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints, SeptranError
from eas.septran.flat.nodes import Kernel, Module
from eas.septran.logic.arguments import check_count, check_written, dtype_of
from eas.septran.logic.dimensions import declared_names, find_dimensions, fitting_ranks
from eas.septran.logic.launches import tasks_below
from eas.septran.logic.loading import Logic, load_logic, load_primitives
from eas.septran.logic.size_names import plain_names, value_of
from eas.septran.logic.tasks import Primitive, Task
from eas.septran.logic.undefined import undefined_in
from eas.septran.lowering import Lowered, lower
from eas.septran.lowering.arguments import TensorType
from eas.septran.lowering.names import names_in
from eas.septran.machine_tables import library_of
from eas.septran.targets.block_tiles import BlockError
from eas.septran.targets.blocks import block_functions
from eas.septran.targets.library import Library, TargetError
from eas.support.location import Loc
from eas.support.records import frozen, replace

if TYPE_CHECKING:
    from eas.septran.explain import Explanation, Room
    from eas.septran.picture import Contents

Array = np.ndarray[Any, Any]
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
TEXTS = ("metal", "llvm", "c", "opencl", "tvmscript", "tilelang", "flat")
Run = Callable[[Sequence[Array]], None]
Compiled = tuple[tuple[int, ...], eas.CompiledKernel]  # a grid, and what runs on it


def load(
    logic: str | os.PathLike[str] | ModuleType | Task,
    mapping: Paths,
    *,
    machine: str | None = None,
    target: str | None = None,
    primitives: Paths = (),
    tune: Mapping[str, int | bool | str] | None = None,
    checked: bool | None = None,
) -> Operator:
    """An operator: a logic file and a mapping file, or a mapping with overlays.

        op = septran.load("gemm_logic.py", "gemm.cpu.map.yaml", tune={"gemm_host.block_m": 64})
        op(C, A, B)
        op = septran.load("gemm_logic.py", ["gemm.cpu.map.yaml", "small_tiles.map.yaml"])

    Of several mappings with `when` the first one is taken that is for the sizes of a call.
    `machine` is for mappings that name none, `target` for machines that have several. `primitives`
    are Python files with primitives of a project's own. `tune` resolves `!tune`. `checked` says
    whether `cpu` and `apple_gpu` check their accesses to memory, see `eas.checked`.
    """
    own: dict[str, Primitive] = {}
    for path in _paths(primitives):
        own |= load_primitives(path)
    tasks = load_logic(logic)
    first, *others = [
        resolve(_load_files(group, tasks, machine, tuple(own)), tune or {})
        for group in alternatives(_paths(mapping))
    ]
    return Operator(tasks, first, own, target, checked, others)


def _load_files(
    paths: Paths, logic: Logic, machine: str | None, primitives: tuple[str, ...]
) -> MappingFiles:
    """A mapping with its overlays; an overlay alone is completed."""
    known = names_in(logic.tasks)
    try:
        files = load_mapping(paths, machine=machine, primitives=primitives, tasks=known)
    except SeptranError as error:
        undefined = undefined_in(logic.tasks.values())
        raise SeptranError([*error.diagnostics, *undefined]) from None
    if not files.is_overlay:
        return files
    from eas.septran.lowering.skeleton import make_skeleton

    return complete(files, make_skeleton(logic.tasks, files.machine, _named_tasks(files)))


def _paths(given: Paths) -> list[str | os.PathLike[str]]:
    return [given] if isinstance(given, str | os.PathLike) else list(given)


def _text_of(target: str) -> str:
    """The text of a target that is compiled elsewhere."""
    return "tvmscript" if target == "tvm" else target


def _named_tasks(mapping: MappingFiles) -> list[str]:
    instances = mapping.task_mappings.values()
    names = [each.task_name for each in instances if isinstance(each, Instance)]
    return [name for name in names if name is not None]


@frozen(slots=False)
class Built:
    """An operator for arrays of certain shapes and dtypes, ready to run."""

    lowered: Lowered
    run: Run

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The parameters that are written."""
        params = self.lowered.module.params
        return tuple(param.name for param in params if param.privilege != "r")


class Operator:
    """A logic on a machine. It is lowered once for each combination of shapes and dtypes."""

    def __init__(
        self,
        logic: Logic,
        mapping: MappingFiles,
        primitives: Mapping[str, Primitive] | None = None,
        target: str | None = None,
        checked: bool | None = None,
        others: Sequence[MappingFiles] = (),
    ) -> None:
        self.logic = logic
        self.mapping = mapping
        self.mappings = (mapping, *others)  # for other sizes
        check_alternatives(self.mappings)
        self.primitives = dict(primitives or {})
        known = mapping.machine.targets
        if target is not None and target not in known:
            name, listed = mapping.machine.name, ", ".join(known)
            raise ValueError(f"the machine `{name}` has no target `{target}`: {listed}")
        self.target = target or known[0]
        self.checked = checked
        self._last: tuple[Lowered, list[Compiled]] | None = None
        self._built: dict[tuple[TensorType, ...], Built] = {}
        self._calls: dict[tuple[object, ...], Built] = {}  # by shapes and dtypes of NumPy

    @property
    def machine(self) -> Machine:
        return self.mapping.machine

    @cached_property
    def entry(self) -> Task:
        """The task that is called."""
        instance = self.mapping.task_mappings[self.mapping.entrypoint or ""]
        return self.logic.tasks[getattr(instance, "task_name", "")]

    def __call__(self, *arrays: Array) -> None:
        """Runs the operator; arrays that it writes are changed in place."""
        key = tuple([(getattr(each, "shape", 0), getattr(each, "dtype", 0)) for each in arrays])
        built = self._calls.get(key)
        if built is None:
            built = self._calls[key] = self.build(*arrays)
        entry = self.entry
        given = dict(zip(entry.parameters, arrays, strict=True))
        check_written(entry, given, built.written)
        built.run(arrays)

    def load_code_generator(self) -> None:
        """Loads what makes its machine code on `cpu`, so that copies of this process have it."""
        if self.target == "cpu":
            load_code_generator()

    def build(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Built:
        """The operator made ready to run for arrays, or for sizes by their names."""
        types = tuple(self._types(arrays, dtype, sizes))
        if types not in self._built:
            self._built[types] = self._build(types)
        return self._built[types]

    def flat(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Module:
        """The flat module for arrays, or for sizes by their names; its `str` is its text."""
        return self.build_flat(*arrays, dtype=dtype, **sizes).module

    def build_flat(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Lowered:
        """The flat module with the machine's table, which its interpreter checks it against."""
        return self._lower(self._types(arrays, dtype, sizes))

    def _lower(self, types: Sequence[TensorType], reserved: int = 0) -> Lowered:
        mapping = choose(self.mappings, self.entry, types)
        return lower(self.logic.tasks.values(), mapping, types, reserved)

    def emit(self, kind: str, *arrays: Array, dtype: str | None = None, **sizes: int) -> str:
        """A text for arrays or sizes by name: one of `TEXTS`, or a target that is a text."""
        lowered = self.build_flat(*arrays, dtype=dtype, **sizes)
        match kind:
            case "flat":
                return str(lowered.module)
            case "metal":
                lowered = self._fitting(lowered, self._types(arrays, dtype, sizes))
                return "\n".join(kernel.msl for kernel in self._metal_kernels(lowered))
            case "llvm":
                return "\n".join(compiled.llvm for _, compiled in self._compiled(lowered))
            case _:
                return self._print(_text_of(kind), lowered.module)

    def check(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Lowered:
        """Raises all mistakes that can be found without running: the target's text is made too."""
        lowered = self.build_flat(*arrays, dtype=dtype, **sizes)
        match self.target:
            case "apple_gpu":
                lowered = self._fitting(lowered, self._types(arrays, dtype, sizes))
                self._metal_kernels(lowered)
            case "cpu":
                self._compiled(lowered)
            case target:
                self._print(_text_of(target), lowered.module)
        return lowered

    def _print(self, kind: str, module: Module) -> str:
        """A text of a language that another compiler reads; its writer is imported for it."""
        with self._refusing():
            match kind:
                case "c":
                    from eas.septran.targets.codegen_dsa import print_c

                    return print_c(module, self.library)
                case "opencl":
                    from eas.septran.targets.opencl import print_opencl

                    return print_opencl(module, self.library, self._registers)
                case "tvmscript":
                    from eas.septran.targets.tvmscript import print_tvmscript

                    return print_tvmscript(module, self.library)
                case "tilelang":
                    from eas.septran.targets.tilelang import print_tilelang

                    return print_tilelang(module, self.library)
                case _:
                    raise ValueError(f"there is no text `{kind}`: {', '.join(TEXTS)}")

    def explain(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Explanation:
        """What the compiler inserted for arrays or sizes by name, and why; `str` is its text."""
        from eas.septran.explain import explain

        lowered = self.build_flat(*arrays, dtype=dtype, **sizes)
        added: list[Room] = []
        if self.target == "apple_gpu":
            from eas.septran.threadgroup_memory import added_rooms

            lowered = self._fitting(lowered, self._types(arrays, dtype, sizes))
            added = added_rooms(lowered.module, self.machine, self._metal_kernels(lowered))
        return explain(lowered.module, self.machine, lowered.sizes, added)

    def picture(self, *arrays: Array, dtype: str | None = None, **sizes: int) -> Contents:
        """What `septran picture` draws for arrays or sizes by name.

        from eas.septran.picture import make_page

        Path("gemm.html").write_text(make_page([op.picture(M=512, N=512, K=512)]), "utf-8")
        """
        from eas.septran.picture import contents_of

        types = self._types(arrays, dtype, sizes)
        lowered = self._fitting(self._lower(types), types)
        mapping = choose(self.mappings, self.entry, types)
        title = ", ".join(each.start.source.name for each in mapping.documents)
        tasks, module = self.logic.tasks, lowered.module
        return contents_of(title, self.entry, tasks, mapping, module, lowered.sizes)

    @property
    def _registers(self) -> list[str]:
        return [name for name, each in self.machine.mems.items() if each.kind == "registers"]

    @property
    def library(self) -> Library:
        """The vendor's library of the machine, with the primitives of the project's own."""
        library = library_of(self.machine)
        own = {name: each.symbol for name, each in self.primitives.items()}
        known = {
            name: library.symbols[symbol]
            for name, symbol in own.items()
            if symbol in library.symbols
        }
        return replace(library, primitives={**library.primitives, **known})

    def _types(
        self, arrays: Sequence[Array], dtype: str | None, sizes: Mapping[str, int]
    ) -> list[TensorType]:
        if arrays:
            return list(self._types_of(arrays))
        name = dtype or self.machine.default_dtype
        if name not in DTYPES:
            raise ValueError(f"there is no dtype `{name}`: {', '.join(DTYPES)}")
        return self.types_for(sizes, DTYPES[name])

    def _types_of(self, arrays: Sequence[Array]) -> tuple[TensorType, ...]:
        """The types of arrays; `check_count` and `dtype_of` say what is wrong with a call."""
        task = self.entry
        check_count(task, len(arrays))
        return tuple(
            TensorType(dtype=dtype_of(task, name, array), shape=array.shape)
            for name, array in zip(task.parameters, arrays, strict=True)
        )

    def types_for(self, sizes: Mapping[str, Any], dtype: DType) -> list[TensorType]:
        """The arguments' types for sizes by name: `M=512, N=512, K=512`."""
        task = self.entry
        wanted = self.size_names()
        known = plain_names(size for names in wanted.values() for size in names)
        missing = [name for name in known if name not in sizes]
        unknown = [name for name in sizes if name not in known]
        if missing or unknown:
            if undefined := undefined_in((task, *tasks_below(task))):
                raise SeptranError(undefined)  # a primitive that there is not gives no names
            wrong = f"`{unknown[0]}` is no size" if unknown else f"`{missing[0]}` is missing"
            raise TypeError(f"the sizes of `{task.function_name}` are {', '.join(known)}: {wrong}")
        for name, size in sizes.items():
            if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 0:
                raise TypeError(f"a size is a whole number from 0 on, and {name}={size!r} is none")
        return [
            TensorType(tuple(max(0, value_of(size, sizes)) for size in wanted[name]), dtype)
            for name in task.parameters
        ]

    def size_names(self, ranks: Mapping[str, int] | None = None) -> dict[str, tuple[str, ...]]:
        """The names of the sizes of each argument; without a rank it has one that fits."""
        task = self.entry
        declared = {name: len(names) for name, names in (declared_names(task) or {}).items()}
        known = fitting_ranks(task, {**declared, **(ranks or {})})
        return find_dimensions(task, known).parameters(known)

    def _fitting(self, lowered: Lowered, types: Sequence[TensorType]) -> Lowered:
        """A Metal text has arrays of its own; buffers of the mapping share memory to make room."""
        if self.target != "apple_gpu":
            return lowered
        kernels = [compiled for _, compiled in self._compiled(lowered)]
        try:
            _ = [kernel.metal for kernel in kernels]
        except eas.CompileError:
            from eas.septran.threadgroup_memory import added_bytes

            added = added_bytes(lowered.module, self.machine, kernels)
            return self._lower(types, added)
        return lowered

    def _compiled(self, lowered: Lowered) -> list[Compiled]:
        """The grids and the kernels of a flat module; the last ones are kept."""
        if self._last is None or self._last[0] is not lowered:
            self._last = lowered, self._compile(lowered)
        return self._last[1]

    def _compile(self, lowered: Lowered) -> list[Compiled]:
        try:
            functions = block_functions(lowered.module, self._registers)
        except BlockError as error:
            raise SeptranError([error.diagnostic]) from error
        return [
            (
                tuple(extent.value for _, extent in reversed(kernel.grid)) or (1,),
                eas.compile_function(function, threads=self._threads(kernel)),
            )
            for kernel, function in functions
        ]

    def _threads(self, kernel: Kernel) -> int | None:
        """The threads of a program on Metal; on the CPU its lanes are those of vectors."""
        return kernel.threads if self.target == "apple_gpu" else None

    def _metal_kernels(self, lowered: Lowered) -> list[eas.CompiledKernel]:
        """The kernels, whose Metal texts can be written."""
        kernels = [compiled for _, compiled in self._compiled(lowered)]
        try:
            _ = [kernel.metal for kernel in kernels]
        except eas.CompileError as error:
            raise self._refused_by(error, lowered, kernels) from error
        return kernels

    def _refused_by(
        self, error: eas.CompileError, lowered: Lowered, kernels: Sequence[eas.CompiledKernel]
    ) -> SeptranError:
        """A mapping that fits may have a Metal text that does not; that is said by name (S401).

        Whatever else a back end refuses is S701.
        """
        if self.target == "apple_gpu":
            from eas.septran.threadgroup_memory import check_metal_memory

            check_metal_memory(lowered.module, self.machine, kernels)
        return SeptranError([replace(each, code="S701") for each in error.diagnostics])

    def _build(self, types: tuple[TensorType, ...]) -> Built:
        lowered = self._lower(types)
        if self.target == "c":
            from eas.septran.targets.build import Program
            from eas.septran.targets.emulated import EmulatedProgram

            with self._refusing():
                emulated = self.machine.emulator is not None
                make = EmulatedProgram if emulated else Program
                program = make(lowered.module, self.library)
            return Built(lowered, lambda arrays: program(*arrays))
        if self.target == "opencl":
            from eas.septran.targets.opencl_run import OpenCLProgram

            with self._refusing():
                device = OpenCLProgram(lowered.module, self.library, self._registers)
            return Built(lowered, partial(self._call_device, device))
        if self.target not in ("cpu", "apple_gpu"):
            message = f"`{self.machine.name}` does not run here: its targets are texts"
            way = f"print one: `septran emit {_text_of(self.target)}`"
            raise self._refusal(message, help=[way])
        lowered = self._fitting(lowered, types)
        return Built(lowered, self._block_program(lowered))

    def _call_device(self, device: Callable[..., None], arrays: Sequence[Array]) -> None:
        """A driver that crashes or hangs is S701."""
        with self._refusing():
            device(*arrays)

    def _refusal(
        self,
        message: str,
        loc: Loc | None = None,
        code: str = "S701",
        help: Sequence[str] = (),
    ) -> SeptranError:
        """The first line is the message; what a compiler says may have more."""
        complaints = Complaints()
        first, *rest = message.splitlines() or [""]
        place = loc or self.machine.place("targets")
        complaints.add(code, first, place, help=help, notes=rest)
        return complaints.error()

    @contextmanager
    def _refusing(self) -> Generator[None]:
        """What a target has no text for is S701, what a primitive cannot compute S501."""
        try:
            yield
        except TargetError as error:
            loc = error.loc or self.machine.place(error.key)
            raise self._refusal(str(error), loc, error.code) from error

    @property
    def runs_library(self) -> bool:
        """Whether a call runs a vendor's C in this process."""
        return self.target == "c" and self.machine.emulator is None

    def library_failed(self, how: str) -> SeptranError:
        """The error of a call in which a vendor's C ended its process (S701)."""
        message = f"the library of `{self.machine.name}` did not come back: {how}"
        help = ["`septran emit c` prints the calls: does a function write beyond its tile?"]
        return self._refusal(message, self.machine.place("library"), help=help)

    @property
    def is_metal_on_cpu(self) -> bool:
        """Whether its Metal text runs on the CPU, since there is no GPU for it."""
        return self.target == "apple_gpu" and eas.FunctionLauncher.backend_of("metal") != "metal"

    def _block_program(self, lowered: Lowered) -> Run:
        compiled = self._compiled(lowered)
        device = "cpu" if self.target == "cpu" else "metal"
        module = lowered.module
        launchers = [
            eas.FunctionLauncher(each, grid, device=device, checked=self.checked)
            for grid, each in compiled
        ]
        temps = [(tuple(e.value for e in t.shape), t.dtype.numpy) for t in module.temps]
        places = {each.name: n for n, each in enumerate((*module.params, *module.temps))}
        used = [[places[param.name] for param in kernel.params] for kernel in module.kernels]
        written = [n for n, param in enumerate(module.params) if param.privilege != "r"]

        def run(arrays: Sequence[Array]) -> None:
            buffers = [a if a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays]
            buffers += [np.empty(shape, dtype) for shape, dtype in temps]
            try:
                for launch, numbers in zip(launchers, used, strict=True):
                    launch(*[buffers[n] for n in numbers])
            except eas.CompileError as error:
                raise self._refused_by(error, lowered, [each for _, each in compiled]) from error
            for n in written:
                if buffers[n] is not arrays[n]:
                    arrays[n][...] = buffers[n]

        return run
