"""`@eas.kernel`: a Python function as a kernel that can be launched, compiled and read."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from eas.backends import backend_of_metal_tensors, checks_by_default, launch_on
from eas.call_arguments import Specialized, argument_types, fake_types, specialize_call
from eas.compiler import CompiledKernel, compile, load_compiler
from eas.config import (
    Backend,
    BackendError,
    CheckError,
    choose_backend,
    choose_checks,
    to_flag,
)
from eas.fast_path import Build, FastPath
from eas.frontend_ast.source.errors import CompileError, Refusal
from eas.frontend_ast.source.reading import read_source
from eas.frontend_ast.source.specialized import specialize
from eas.frontend_ast.source.texts import keep_texts, kept_text, restore_text
from eas.frontend_ast.source.wrappers import kernel_function
from eas.ir.text import print_function
from eas.runtime import torch_arguments
from eas.runtime.errors import KernelError
from eas.runtime.grid import (
    Grid,
    Implied,
    Threads,
    check_axes,
    count_threads,
    implied_grid,
    read_threads,
    resolve_grid,
    takes_pair,
)
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.recording import RECORDER
from eas.runtime.torch_tracing import make_opaque
from eas.signature import Parameter, Parameters
from eas.support.records import frozen, replace

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from eas.examples import Example
    from eas.export import Exported
    from eas.mlx import MlxKernel

F = TypeVar("F", bound=Callable[..., Any])


@overload
def kernel(fn: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    fast_math: bool = False,
    checked: bool | None = None,
    examples: Sequence[Sequence[Any]] = (),
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    fast_math: bool = False,
    checked: bool | None = None,
    examples: Sequence[Sequence[Any]] = (),
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a function: `@eas.kernel`, or `@eas.kernel(fast_math=True)`.

    `fast_math` lets floating-point operations be reordered and contracted. `checked` says whether
    accesses outside of arrays are reported; without it, the backend decides, see `eas.checked`.
    `examples` are types to compile the kernel for where nobody launches it, as in an editor:
    `examples=[("*f32", "*f32", "i32", dict(BLOCK=256))]`; the dict has arguments by name.
    """
    if fn is not None:
        return Kernel(fn, fast_math=fast_math, checked=checked, examples=examples)

    def decorate(fn: Callable[..., Any]) -> Kernel:
        return Kernel(fn, fast_math=fast_math, checked=checked, examples=examples)

    return decorate


def function(fn: F) -> F:
    """Marks a function as a helper of kernels, for the reader's sake; any function can be one."""
    keep_texts(fn)
    return fn


# Errors that a user can do something about: their text says where, in the user's own code.
_FOR_USERS = (LaunchError, CompileError, KernelError)


@frozen(eq=False)
class _Launch:
    """What a call of a kernel asks for. `build` is what code for the CPU depends on."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grid: Grid | None
    build: Build
    backend: Backend
    is_backend_given: bool
    checks: bool | None
    sync: bool


class Kernel:
    """A function that runs as a grid of programs.

    Called, it is launched: `add(a, b, c, n, BLOCK=256)`, or with a grid, `add[4](a, b, c, n,
    BLOCK=256)`. It is compiled for the types of its arguments and for the values of its constexpr
    ones, once for each. In a class body it is like a static method: it is called through the class
    or an object of it, and gets neither.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        fast_math: bool = False,
        checked: bool | None = None,
        examples: Sequence[Sequence[Any]] = (),
    ) -> None:
        if isinstance(fn, staticmethod):
            fn = fn.__func__
        if not isinstance(fn, FunctionType):
            raise TypeError(f"@eas.kernel takes a function, not {fn!r}")
        load_compiler()
        keep_texts(fn)
        self.fn = fn
        self.fast_math = fast_math
        self.checked = None if checked is None else to_flag(checked, "checked")
        self._inner = inspect.unwrap(fn)
        self._parts = _parts(self._inner)
        self.parameters = Parameters(self._inner)
        self.examples = _read_examples(fn.__name__, self.parameters, examples)
        self._compiled: dict[tuple[object, ...], CompiledKernel] = {}
        self._fast_path = FastPath(self.parameters)
        self._lock = threading.RLock()
        functools.update_wrapper(self, fn)

    @property
    def name(self) -> str:
        return self.fn.__name__

    def __repr__(self) -> str:
        return f"<kernel {self.fn.__qualname__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A kernel is pickled by its name, like a function; by cloudpickle also by value."""
        # pickle runs no Python of its own: the caller's frame is that of its `dump`
        is_cloudpickle = sys._getframe(1).f_globals.get("__name__") == "cloudpickle.cloudpickle"  # pyright: ignore[reportPrivateUsage]
        if is_cloudpickle and not self._is_importable():
            text = kept_text(self.fn)
            return _restore, (self.fn, text, self.fast_math, self.checked, self.examples)
        return self.fn.__qualname__

    def _is_importable(self) -> bool:
        """Whether another process finds it in the module that defines it."""
        found: Any = sys.modules.get(self.fn.__module__)
        for name in self.fn.__qualname__.split("."):
            found = getattr(found, name, None)
        return found is self and self.fn.__module__ != "__main__"

    def __call__(
        self,
        *args: Any,
        _grid: Grid | None = None,
        _tptg: Threads | None = None,
        _sync: bool = True,
        _backend: Backend | None = None,
        _checked: bool | None = None,
        _shape: int | tuple[int, ...] | None = None,
        _nthreads: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Runs the kernel over a grid.

        `_grid` is an int, a tuple of up to three, or a function: of a dict of the scalar and the
        constexpr arguments, or, with two parameters, of the constexpr and of the other arguments.
        Without it the grid is `ceil(N / BLOCK)`, by the arguments of these names; it is
        `(ceil(W / BLOCK), H)` for a kernel that uses `program_id(1)`, and has `D` as a third axis
        for one that uses `program_id(2)`. `_shape=(H, W)` comes before these arguments, and
        `_nthreads` stands for `N`. `_tptg` is the number of threads per program, `_backend`
        overrides `EAS_BACKEND`. With `_sync=False` it returns before the kernel is done, see
        `eas.Stream`. `_checked` says whether accesses outside of arrays are reported, see
        `eas.checked`.
        """
        try:
            backend = choose_backend(_backend)
            chosen_checks = choose_checks(_checked, self.checked)
            if _tptg is not None:
                _tptg = read_threads(_tptg)
            if _shape is not None or _nthreads is not None:
                _grid = implied_grid(_grid, _shape, _nthreads)
        except (BackendError, CheckError, BadArgument) as error:
            raise LaunchError(self.name, str(error)) from None
        checks = checks_by_default(backend) if chosen_checks is None else chosen_checks
        build = (_tptg, checks)
        is_plain = _sync is True and not ACTIVE  # nothing is in flight that it could wait for
        if is_plain and backend == "cpu" and self._fast_path.run(build, _grid, args, kwargs):
            return
        try:
            if _sync is False and backend == "cpu" and self._put(build, _grid, args, kwargs):
                return
            given = bool(_backend)
            launch = _Launch(args, kwargs, _grid, build, backend, given, chosen_checks, _sync)
            self._launch(launch, is_plain=is_plain)
        except _FOR_USERS as error:
            raise error.with_traceback(None) from error.__cause__

    def _launch(self, launch: _Launch, *, is_plain: bool) -> None:
        """A launch that is not like an earlier one, or not to be waited for."""
        self._check_sync(launch.sync)
        args, kwargs, build, backend = launch.args, launch.kwargs, launch.build, launch.backend
        is_asynchronous = not launch.sync and backend == "cpu"
        threads, checks = build
        if self._is_fake_launch(args, kwargs):
            self._check_fake_launch(args, kwargs, threads)
            return
        if backend == "metal" and self._launch_on_torch(args, kwargs, launch.grid, threads):
            return
        call = self._specialize(args, kwargs, is_launch=True)
        if "metal" in call.devices.values():
            given = backend if launch.is_backend_given else ""
            backend = backend_of_metal_tensors(self.name, call.devices, given)
            checks = checks_by_default(backend) if launch.checks is None else launch.checks
        compiled, grid = self._compile_for(call, threads, launch.grid)
        self._check_overlaps(call, compiled)
        self._mark_tensors(call, compiled)
        launch_on(backend, compiled, call.values, grid, checks, is_synchronous=launch.sync)
        if (is_plain and backend == "cpu") or is_asynchronous:
            self._fast_path.add(build, args, kwargs, compiled, call)

    def _put(
        self, build: Build, grid: Grid | None, args: tuple[Any, ...], options: dict[str, Any]
    ) -> bool:
        """Puts a launch into a stream if it is like an earlier one; else gives False."""
        if RECORDER.get() is not None:  # a graph records launches that are bound
            return False
        from eas.asynchronous import put_planned  # only its users pay for the import

        return put_planned(self.name, self._fast_path.read(build, grid, args, options))

    def __getitem__(self, grid: Grid) -> Callable[..., None]:
        """The kernel with a grid, to be called: `add[4](...)`, `add[4, 4](...)`."""

        def launcher(*args: Any, **kwargs: Any) -> None:
            if "_grid" in kwargs:
                raise LaunchError(self.name, "the grid is given twice, in brackets and as `_grid`")
            self(*args, _grid=grid, **kwargs)

        return launcher

    def compile(
        self,
        *args: Any,
        _tptg: Threads | None = None,
        _grid: Grid | None = None,
        _shape: int | tuple[int, ...] | None = None,
        _nthreads: int | None = None,
        **kwargs: Any,
    ) -> CompiledKernel:
        """The kernel compiled for these arguments, or for types of them: `"*f32"`, `"i32"`.

        It is the same for every grid. One that is given is checked, if the arguments are values.
        """
        try:
            call = self._specialize(args, kwargs, is_launch=False)
            compiled = self._compile(call, self._threads(_tptg))
            if _grid is not None or _shape is not None or _nthreads is not None:
                self._check_grid(call, compiled, _grid, _shape, _nthreads)
            return compiled
        except _FOR_USERS as error:
            raise error.with_traceback(None) from error.__cause__

    def to_msl(self, *args: Any, _tptg: Threads | None = None, **kwargs: Any) -> str:
        """The Metal text for these arguments or types."""
        return self.compile(*args, _tptg=_tptg, **kwargs).msl

    def to_mlx(
        self, *args: Any, _grid: Grid | None = None, _tptg: Threads | None = None, **kwargs: Any
    ) -> MlxKernel:
        """The kernel for `mx.fast.metal_kernel` of MLX, for these arguments or types.

        With arguments it can be launched there, over the grid of a launch. See `eas.mlx.MlxKernel`.
        """
        from eas import mlx

        try:
            bound = self.parameters.bind(args, kwargs)
            types = {name: mlx.array_type(value) or value for name, value in bound.items()}
            call = specialize_call(self.name, self.parameters.all, types, is_launch=False)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None
        threads = self._threads(_tptg)
        if any(isinstance(bound[p.name], str) for p in self._runtime_parameters()):
            return mlx.to_mlx(self._compile(call, threads), bound, None)
        compiled, grid = self._compile_for(call, threads, _grid)
        return mlx.to_mlx(compiled, bound, grid)

    def export(
        self,
        folder: str | PathLike[str],
        /,
        *args: Any,
        _tptg: Threads | None = None,
        _checked: bool = False,
        _force: bool = False,
        **kwargs: Any,
    ) -> list[Path]:
        """Writes the kernel for these types into a folder, for programs without Python.

            add.export("out", "*f32", "*f32", "*f32", "i32", BLOCK=256)

        There are the Metal text, a manifest with its JSON Schema, and samples of hosts in Python,
        Swift and C++. Without types the kernel is exported for each of its `examples`. `_checked`
        has the text check its accesses; `_force` overwrites files that were not exported. See
        docs/export.md. An `eas.ExportError` says why nothing was written.
        """
        from eas.export import export_compiled

        forms = self.exported(*args, _tptg=_tptg, _checked=_checked, **kwargs)
        return [each.path for each in export_compiled(folder, forms, force=_force)]

    def exported(
        self, *args: Any, _tptg: Threads | None = None, _checked: bool = False, **kwargs: Any
    ) -> list[Exported]:
        """What `export` writes, for these types or for each of the kernel's examples."""
        from eas.export import Exported, ExportError

        calls = [(args, kwargs)] if args or kwargs else [(e.args, e.kwargs) for e in self.examples]
        if not calls and any(True for _ in self._runtime_parameters()):
            raise ExportError(
                f'kernel `{self.name}` has no `examples`: give types, such as "*f32" and "i32"'
            )
        if not isinstance(_checked, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise LaunchError(self.name, f"`_checked` is True or False, not {_checked!r}")
        forms: list[Exported] = []
        for types, named in calls or [((), {})]:
            call = self._specialize(types, dict(named), is_launch=False)
            compiled = self._compile(call, self._threads(_tptg))
            parts = zip(self.parameters.all, call.key, strict=True)
            ranks: dict[str, Any] = {p.name: k[1] for p, k in parts if isinstance(k, tuple)}
            chosen = compiled.checked if _checked else compiled
            names = [p.name for p in self.parameters.all]
            forms.append(Exported(chosen, names, call.constants, ranks))
        return forms

    def _runtime_parameters(self) -> list[Parameter]:
        return [p for p in self.parameters.all if not p.is_constexpr]

    def to_schedule(
        self, *args: Any, _tptg: Threads | None = None, _target: str = "metal", **kwargs: Any
    ) -> str:
        """What is decided before the text of a target is written, for these arguments or types.

        For `metal` first where each block is (with the threads that own its elements, in
        threadgroup memory, or computed at each use), then the steps of the threads with the
        barriers between them. For `cpu` what a program does once, and in which loops over lanes.
        """
        from eas.targets import check_target  # as below

        check_target(_target)
        compiled = self.compile(*args, _tptg=_tptg, **kwargs)
        return compiled.schedule if _target == "metal" else compiled.lane_loops

    def to_tree(self, *args: Any, _tptg: Threads | None = None, **kwargs: Any) -> str:
        """The C++ tree that becomes the Metal text, for these arguments or types.

        Each expression has a number, and a mark: it is printed inline, or it gets a name.
        """
        return self.compile(*args, _tptg=_tptg, **kwargs).tree

    def to_llvm(self, *args: Any, _tptg: Threads | None = None, **kwargs: Any) -> str:
        """The LLVM text for these arguments or types, as it is made for this CPU."""
        return self.compile(*args, _tptg=_tptg, **kwargs).llvm

    def to_asm(self, *args: Any, _tptg: Threads | None = None, **kwargs: Any) -> str:
        """The machine code of this CPU for these arguments or types, as text."""
        return self.compile(*args, _tptg=_tptg, **kwargs).asm

    def to_ir(self, *args: Any, _tptg: Threads | None = None, **kwargs: Any) -> str:
        """The typed IR for these arguments or types."""
        return self.compile(*args, _tptg=_tptg, **kwargs).ir

    def ir_after(
        self, name: str, target: str, /, *args: Any, _tptg: Threads | None = None, **kwargs: Any
    ) -> str:
        """The typed IR after a pass of a target, `"metal"` or `"cpu"`: `eas passes` lists them."""
        from eas.targets import compile_until  # it imports the passes of Metal

        threads = count_threads(self._threads(_tptg))
        call = self._specialize(args, kwargs, is_launch=False)
        types = argument_types(self.parameters.all, call)
        fast_math = self.fast_math
        function = compile_until(self.fn, types, target, name, threads=threads, fast_math=fast_math)
        return print_function(function)

    def to_python(self, *args: Any, **kwargs: Any) -> str:
        """The Python that is left of the kernel once its constexpr arguments are known."""
        call = self._specialize(args, kwargs, is_launch=False)
        try:
            return specialize(read_source(kernel_function(self.fn)), dict(call.constants))
        except Refusal as error:
            raise CompileError([error.diagnostic], self.name) from None

    def _specialize(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_launch: bool
    ) -> Specialized:
        self._update_parameters()
        try:
            bound = self.parameters.bind(args, kwargs)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None
        return specialize_call(self.name, self.parameters.all, bound, is_launch=is_launch)

    def _update_parameters(self) -> None:
        """Reads the function's parameters again if somebody has assigned to its parts."""
        parts = _parts(self._inner)
        if all(map(operator.is_, parts, self._parts)):
            return
        self._parts = parts
        self.parameters = Parameters(self._inner)
        self._fast_path = FastPath(self.parameters)

    def _compile_for(
        self, call: Specialized, threads: Threads | None, grid: Grid | None
    ) -> tuple[CompiledKernel, tuple[int, ...]]:
        """The kernel, and the extents of its grid; one that is given is checked first."""
        arguments = call.grid_arguments
        try:
            is_implied = grid is None or isinstance(grid, Implied)
            given = None if is_implied else resolve_grid(grid, arguments)
            compiled = self._compile(call, threads)
            return compiled, given or resolve_grid(grid, arguments, compiled.grid_use)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None

    def _check_grid(
        self, call: Specialized, compiled: CompiledKernel, grid: Grid | None, shape: Any, count: Any
    ) -> None:
        """Refuses a wrong grid; where only types are known, a function is not called."""
        has_values = len(call.values) + len(call.constants) == len(call.given)
        try:
            if shape is not None or count is not None:
                grid = implied_grid(grid, shape, count)
            if callable(grid) and not has_values:
                takes_pair(grid)
            else:
                resolve_grid(grid, call.grid_arguments, compiled.grid_use)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None

    def _compile(self, call: Specialized, given: Threads | None) -> CompiledKernel:
        threads = count_threads(given)
        compiled = self._compile_once(call, threads)
        try:
            check_axes(given, compiled.function.threads is not None)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None
        return compiled

    def _compile_once(self, call: Specialized, threads: int | None) -> CompiledKernel:
        key = (threads, *call.key)
        found = self._find(key)
        if found is not None and found.is_current():
            return found
        with self._lock:
            found = self._find(key)
            if found is None or not found.is_current():
                found = self._compiled[key] = self._compile_anew(call, threads)
        return found

    def _find(self, key: tuple[object, ...]) -> CompiledKernel | None:
        try:
            return self._compiled.get(key)
        except Exception as error:  # of the user's `__eq__`
            message = f"a constexpr cannot be compared ({type(error).__name__}: {error})"
            raise LaunchError(self.name, message) from error

    def _compile_anew(self, call: Specialized, threads: int | None) -> CompiledKernel:
        types = argument_types(self.parameters.all, call)
        compiled = compile(self.fn, types, threads=threads, fast_math=self.fast_math)
        for message in compiled.messages:
            print(message)
        return replace(compiled, kernel=self)

    def _check_overlaps(self, call: Specialized, compiled: CompiledKernel) -> None:
        """Backends assume that two parameters whose arrays overlap are only read."""
        for first, second in call.overlapping:
            written = [name for name in (first, second) if name in compiled.writes]
            if written:
                raise LaunchError(
                    self.name,
                    f"it shares memory with `{first}`, and the kernel writes to `{written[0]}`: "
                    "pass a copy of one, or the very same array for both",
                    second,
                )

    def _check_sync(self, sync: object) -> None:
        if not isinstance(sync, bool):
            raise LaunchError(self.name, f"`_sync` is True or False, not {sync!r}")

    def _mark_tensors(self, call: Specialized, compiled: CompiledKernel) -> None:
        """Refuses tensors that must not be written, and lets autograd know of those that are."""
        if not call.tensors:
            return
        written = {name: call.tensors[name] for name in compiled.writes if name in call.tensors}
        for name, tensor in written.items():
            try:
                torch_arguments.check_written(tensor)
            except BadArgument as error:
                raise LaunchError(self.name, str(error), name) from None
        recorder = RECORDER.get()
        if recorder is None:
            torch_arguments.mark_written(written.values())
        else:
            recorder.note_written([*written.values()])

    def _is_fake_launch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether `torch` only wants to know what the launch would do."""
        try:
            return torch_arguments.is_fake_launch([*args, *kwargs.values()])
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None

    def _launch_on_torch(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        grid: Grid | None,
        threads: Threads | None,
    ) -> bool:
        """Launches on torch's own stream, if arrays are on `mps` and that was chosen."""
        if not any(map(torch_arguments.is_on_mps, [*args, *kwargs.values()])):
            return False
        from eas import torch_stream

        try:
            if not torch_stream.is_stream_used():
                return False
            bound = self.parameters.bind(args, kwargs)
            types = fake_types(self.parameters.all, bound)
            assert types is not None
            call = specialize_call(self.name, self.parameters.all, types, is_launch=False)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None
        compiled, extents = self._compile_for(call, threads, grid)
        torch_stream.launch(compiled, bound, extents)
        return True

    def _check_fake_launch(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], threads: Threads | None
    ) -> None:
        """Compiles the kernel for the types of the arguments, as far as they are known."""
        try:
            bound = self.parameters.bind(args, kwargs)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None
        types = fake_types(self.parameters.all, bound)
        if types is not None:
            call = specialize_call(self.name, self.parameters.all, types, is_launch=False)
            self._compile(call, threads)

    def _threads(self, given: Any) -> Threads | None:
        try:
            return None if given is None else read_threads(given)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from None


make_opaque(Kernel.__call__)


def _restore(
    fn: FunctionType,
    text: tuple[str, list[str]] | None,
    fast_math: bool,
    checked: bool | None,
    examples: Any,
) -> Kernel:
    """A kernel that was pickled by value, with the text of its file."""
    if text is not None:
        restore_text(fn, *text)
    made = Kernel(fn, fast_math=fast_math, checked=checked)
    made.examples = examples
    return made


def _read_examples(name: str, parameters: Parameters, given: Any) -> tuple[Example, ...]:
    """Most kernels have none: `import eas` does not wait for what reads them."""
    if given == ():
        return ()
    from eas.examples import read_examples

    return read_examples(name, parameters, given)


def _parts(fn: Any) -> tuple[object, ...]:
    """What of a function can be assigned to and changes its parameters."""
    return fn.__code__, fn.__defaults__, fn.__kwdefaults__
