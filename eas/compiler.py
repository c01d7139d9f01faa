"""Compiles a Python function to everything that can be run or read."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from eas.compile_contexts import refusing_depth, reporting_faults, run_verified
from eas.frontend_ast.source.errors import CompileError
from eas.frontend_ast.source.parameters import Argument, Capture
from eas.ir.analysis import grid_axes, index_sizes
from eas.ir.nodes import Function
from eas.ir.passes import COMMON, RELAX, with_bounds
from eas.ir.passes.strides import last_strides, with_unit_strides
from eas.ir.text import print_function
from eas.ir.verify import verify
from eas.runtime import cpu
from eas.runtime.binding import Binding
from eas.runtime.grid import GridUse
from eas.support.collector import without_collector
from eas.support.records import field, frozen, replace
from eas.support.timing import timed

if TYPE_CHECKING:
    from eas.frontend_ast.context import Caution, Table
    from eas.msl.kernel import MslKernel, ThreadgroupMemory


@without_collector()
def load_compiler() -> None:
    """Loads what compiles kernels and writes Metal, for the first kernel that is defined.

    `import eas` alone stays short, and no compile waits for modules.
    """
    for name in ("eas.frontend_ast.lower", "eas.frontend_ast.table", "eas.metal_text"):
        import_module(name)


def load_code_generator() -> None:
    """Loads what makes machine code for `cpu`: copies of this process have it, too."""
    from eas.runtime.cpu import build

    build.load_code_generator()


@without_collector()
def compile(
    fn: Callable[..., Any],
    arguments: Mapping[str, Argument],
    *,
    threads: int | None = None,
    fast_math: bool = False,
    table: Table | None = None,
    caution: Caution | None = None,
) -> CompiledKernel:
    """Compiles a kernel for these types and constants: a pure function of what it is given.

    `table` and `caution` are for tools that observe a compile, see `eas.frontend_ast.lower`.
    """
    from eas.frontend_ast.lower import lower
    from eas.frontend_ast.table import TABLE

    with timed(fn.__name__, "reading Python"):
        lowered = lower(
            fn,
            arguments,
            threads=threads,
            fast_math=fast_math,
            table=table or TABLE,
            caution=caution,
        )
    with refusing_depth(lowered.function), timed(fn.__name__, "checking and optimizing"):
        with reporting_faults(lowered.function):
            verify(lowered.function, COMMON.start)
        function = run_verified(COMMON, lowered.function)
    use = _grid_use(lowered.function)
    return CompiledKernel(function, threads, lowered.captures, lowered.messages, use)


def _grid_use(function: Function) -> GridUse:
    """As the source says, before ops that nobody uses are gone."""
    axes = grid_axes(function)
    return GridUse(max((0, *axes)) + 1, index_sizes(function), 0 in axes)


@without_collector()
def compile_function(function: Function, *, threads: int | None = None) -> CompiledKernel:
    """Compiles a function of the IR that another front end has made, like a kernel's.

    It is verified first; what breaks the IR's contract is a `VerifyError`.
    """
    verify(function, COMMON.start)
    with refusing_depth(function), timed(function.name, "checking and optimizing"):
        use = _grid_use(function)
        return CompiledKernel(run_verified(COMMON, function), threads, (), grid_use=use)


@without_collector()
def build_executable(function: Function) -> cpu.Executable:
    """The machine code of a compiled function, for the CPU of this machine."""
    with _relaxed_for_cpu(function) as relaxed:
        return cpu.Executable(relaxed)


def write_llvm(function: Function, *, as_machine_code: bool = False) -> str:
    """The LLVM text of a compiled function, or the assembly that it becomes."""
    with _relaxed_for_cpu(function) as relaxed:
        return cpu.to_asm(relaxed) if as_machine_code else cpu.to_llvm(relaxed)


def list_lanes(function: Function) -> str:
    """What a program of a compiled function does on the CPU: once, and in loops over lanes."""
    with _relaxed_for_cpu(function) as relaxed:
        return cpu.list_lanes(relaxed)


@contextmanager
def _relaxed_for_cpu(function: Function) -> Generator[Function]:
    with refusing_depth(function):
        relaxed = run_verified(RELAX, function)
        try:
            with reporting_faults(function):
                yield relaxed
        except cpu.UnsupportedError as error:
            raise CompileError([error.diagnostic], function.name) from error


@frozen(slots=False)
class CompiledKernel:
    """A kernel for certain types and constants."""

    function: Function
    threads_wanted: int | None
    captures: tuple[Capture, ...]
    messages: tuple[str, ...] = ()
    grid_use: GridUse = GridUse()
    kernel: Any = field(default=None, compare=False)  # that it was compiled of, if it was one

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def signature(self) -> str:
        """The parameters with their types: `add(a: *f32, N: i32) with BLOCK=256`."""
        types = ", ".join(
            f"{p.name}: {p.value.ty}" for p in self.function.params if p.role == "argument"
        )
        constants = ", ".join(f"{name}={value}" for name, value in self.function.constants)
        return f"{self.name}({types})" + (f" with {constants}" if constants else "")

    @property
    def writes(self) -> tuple[str, ...]:
        """The names of the arrays that the kernel writes to."""
        return tuple(use.name for use in self.binding.uses.values() if use.is_written)

    @cached_property
    def ir(self) -> str:
        """The typed IR as text."""
        return print_function(self.function)

    @property
    def msl(self) -> str:
        """The Metal text."""
        return self.metal.text

    @property
    def schedule(self) -> str:
        """The layout and the schedule behind the Metal text."""
        from eas.metal_text import describe_msl

        return describe_msl(self.function, self.threads_wanted)

    @property
    def tree(self) -> str:
        """The C++ tree that becomes the Metal text."""
        from eas.metal_text import describe_msl_tree

        return describe_msl_tree(self.function, self.threads_wanted)

    @property
    def lane_loops(self) -> str:
        """What a program does on this CPU: ops that run once, and loops over lanes."""
        return list_lanes(self.unit_stride.function)

    @property
    def threads(self) -> int:
        """How many threads a program has on Metal."""
        return self.metal.threads

    @property
    def launch_mode(self) -> Literal["spmd", "thread"]:
        """`"thread"` for a kernel that is written for threads (`mk.tid`), else `"spmd"`."""
        return "spmd" if self.function.threads is None else "thread"

    @property
    def block_size(self) -> int:
        """The size of the largest `arange`, or the number of threads of a kernel for threads."""
        return max(self.grid_use.sizes, default=1)

    @cached_property
    def threadgroup_memory(self) -> tuple[ThreadgroupMemory, ...]:
        """The arrays in threadgroup memory on Metal, also if it has less than they need."""
        from eas.metal_text import list_msl_memory

        return list_msl_memory(self.function, self.threads_wanted)

    @cached_property
    def metal(self) -> MslKernel:
        """The Metal text, and what it takes to run it."""
        from eas.metal_text import write_msl

        return write_msl(self.function, self.threads_wanted)

    @cached_property
    def executable(self) -> cpu.Executable:
        """The machine code for this CPU, ready to run."""
        return build_executable(self.function)

    @cached_property
    def unit_stride(self) -> CompiledKernel:
        """The kernel for arrays whose last axis has unit stride."""
        if not last_strides(self.function):
            return self
        return replace(self, function=with_unit_strides(self.function))

    @cached_property
    def checked(self) -> CompiledKernel:
        """The kernel whose accesses to memory are checked by every backend."""
        return replace(self, function=with_bounds(self.function))

    @property
    def llvm(self) -> str:
        """The LLVM text for this CPU, for arrays of unit stride, without checks."""
        return write_llvm(self.unit_stride.function)

    @property
    def asm(self) -> str:
        """The machine code for this CPU, as text, without checks."""
        return write_llvm(self.unit_stride.function, as_machine_code=True)

    @cached_property
    def binding(self) -> Binding:
        return Binding(self.function)

    def is_current(self) -> bool:
        """Whether the values that the kernel captured from outside are still the same.

        Each launch asks. Most are the very same objects: that is found without a loop in Python.
        """
        reads, seen = self._captured
        try:
            if all(map(operator.is_, map(operator.call, reads), seen)):
                return True
        except Exception:  # a name that is gone, or code of the user's
            return False
        return all(map(Capture.is_current, self.captures))

    @cached_property
    def _captured(self) -> tuple[tuple[Callable[[], object], ...], tuple[object, ...]]:
        return tuple(c.read for c in self.captures), tuple(c.seen for c in self.captures)
