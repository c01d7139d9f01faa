"""`@eas.kernel`: a Python function as a kernel that can be launched, compiled and read."""

from __future__ import annotations

import functools
import inspect
import operator
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

import numpy as np

from eas.backends import checks_by_default, launch_on
from eas.call_arguments import Specialized, argument_types, specialize_call
from eas.compiler import CompiledKernel, compile, compile_until
from eas.config import (
    Backend,
    BackendError,
    CheckError,
    choose_backend,
    choose_checks,
    to_flag,
)
from eas.fast_path import FastPath
from eas.frontend_ast.source.errors import CompileError, Refusal
from eas.frontend_ast.source.reading import read_source
from eas.frontend_ast.source.specialized import specialize
from eas.frontend_ast.source.texts import keep_texts
from eas.frontend_ast.source.wrappers import kernel_function
from eas.ir.text import print_function
from eas.runtime.grid import Grid, implicit_grid, resolve_grid
from eas.runtime.refusals import BadArgument, LaunchError
from eas.signature import Parameters

MAX_THREADS = 1024

F = TypeVar("F", bound=Callable[..., Any])


@overload
def kernel(fn: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *, fast_math: bool = False, checked: bool | None = None
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    fast_math: bool = False,
    checked: bool | None = None,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a function: `@eas.kernel`, or `@eas.kernel(fast_math=True)`.

    `fast_math` lets floating-point operations be reordered and contracted. `checked` says whether
    accesses outside of arrays are reported; without it, the backend decides, see `eas.checked`.
    """
    if fn is not None:
        return Kernel(fn, fast_math=fast_math, checked=checked)

    def decorate(fn: Callable[..., Any]) -> Kernel:
        return Kernel(fn, fast_math=fast_math, checked=checked)

    return decorate


def function(fn: F) -> F:
    """Marks a function as a helper of kernels, for the reader's sake; any function can be one."""
    keep_texts(fn)
    return fn


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
        self, fn: Callable[..., Any], *, fast_math: bool = False, checked: bool | None = None
    ) -> None:
        if isinstance(fn, staticmethod):
            fn = fn.__func__
        if not isinstance(fn, FunctionType):
            raise TypeError(f"@eas.kernel takes a function, not {fn!r}")
        keep_texts(fn)
        self.fn = fn
        self.fast_math = fast_math
        self.checked = None if checked is None else to_flag(checked, "checked")
        self._inner = inspect.unwrap(fn)
        self._parts = _parts(self._inner)
        self.parameters = Parameters(self._inner)
        self._compiled: dict[tuple[object, ...], CompiledKernel] = {}
        self._fast_path = FastPath(self.parameters)
        self._lock = threading.RLock()
        functools.update_wrapper(self, fn)

    @property
    def name(self) -> str:
        return self.fn.__name__

    def __repr__(self) -> str:
        return f"<kernel {self.fn.__qualname__}>"

    def __reduce__(self) -> str:
        return self.fn.__qualname__

    def __call__(
        self,
        *args: Any,
        _grid: Grid | None = None,
        _tptg: int | None = None,
        _sync: bool = True,
        _backend: Backend | None = None,
        _checked: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Runs the kernel over a grid.

        `_grid` is an int, a tuple of up to three, or a function of a dict of the scalar and the
        constexpr arguments; without it the grid is `ceil(N / BLOCK)`, by the arguments of these
        names. `_tptg` is the number of threads per program, `_backend` overrides `EAS_BACKEND`.
        `_sync` is taken and changes nothing: a launch returns when the kernel is done on every
        backend. `_checked` says whether accesses outside of arrays are reported, see `eas.checked`.
        """
        try:
            backend = choose_backend(_backend)
            checks = choose_checks(_checked, self.checked)
        except (BackendError, CheckError) as error:
            raise LaunchError(self.name, str(error)) from error
        if checks is None:
            checks = checks_by_default(backend)
        build = (_tptg, checks)
        if backend == "cpu" and self._fast_path.run(build, _grid, args, kwargs):
            return
        call = self._specialize(args, kwargs, is_launch=True)
        try:
            grid = self._grid(call, _grid)
        except BadArgument as error:
            raise LaunchError(self.name, str(error)) from error
        compiled = self._compile(call, _tptg)
        self._check_overlaps(call, compiled)
        launch_on(backend, compiled, call.values, grid, checks)
        if backend == "cpu":
            self._fast_path.add(build, args, kwargs, compiled, call)

    def __getitem__(self, grid: Grid) -> Callable[..., None]:
        """The kernel with a grid, to be called: `add[4](...)`, `add[4, 4](...)`."""

        def launcher(*args: Any, **kwargs: Any) -> None:
            if "_grid" in kwargs:
                raise LaunchError(self.name, "the grid is given twice, in brackets and as `_grid`")
            self(*args, _grid=grid, **kwargs)

        return launcher

    def compile(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> CompiledKernel:
        """The kernel compiled for these arguments, or for types of them: `"*f32"`, `"i32"`."""
        return self._compile(self._specialize(args, kwargs, is_launch=False), _tptg)

    def to_msl(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> str:
        """The Metal text for these arguments or types."""
        return self.compile(*args, _tptg=_tptg, **kwargs).msl

    def to_schedule(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> str:
        """What is decided before the Metal text is written, for these arguments or types.

        First where each block is (with the threads that own its elements, in threadgroup memory,
        or computed at each use), then the steps of the threads with the barriers between them.
        """
        return self.compile(*args, _tptg=_tptg, **kwargs).schedule

    def to_llvm(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> str:
        """The LLVM text for these arguments or types, as it is made for this CPU."""
        return self.compile(*args, _tptg=_tptg, **kwargs).llvm

    def to_asm(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> str:
        """The machine code of this CPU for these arguments or types, as text."""
        return self.compile(*args, _tptg=_tptg, **kwargs).asm

    def to_ir(self, *args: Any, _tptg: int | None = None, **kwargs: Any) -> str:
        """The typed IR for these arguments or types."""
        return self.compile(*args, _tptg=_tptg, **kwargs).ir

    def ir_after(
        self, name: str, target: str, /, *args: Any, _tptg: int | None = None, **kwargs: Any
    ) -> str:
        """The typed IR after a pass of a target, `"metal"` or `"cpu"`: `eas passes` lists them."""
        self._check_threads(_tptg)
        call = self._specialize(args, kwargs, is_launch=False)
        types = argument_types(self.parameters.all, call)
        fast_math = self.fast_math
        function = compile_until(self.fn, types, target, name, threads=_tptg, fast_math=fast_math)
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
            raise LaunchError(self.name, str(error)) from error
        return specialize_call(self.name, self.parameters.all, bound, is_launch=is_launch)

    def _update_parameters(self) -> None:
        """Reads the function's parameters again if somebody has assigned to its parts."""
        parts = _parts(self._inner)
        if all(map(operator.is_, parts, self._parts)):
            return
        self._parts = parts
        self.parameters = Parameters(self._inner)
        self._fast_path = FastPath(self.parameters)

    def _compile(self, call: Specialized, threads: int | None) -> CompiledKernel:
        self._check_threads(threads)
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
        return compiled

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

    def _check_threads(self, threads: int | None) -> None:
        if threads is None:
            return
        if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
            message = f"`_tptg` is an int from 1 to {MAX_THREADS}, not {threads!r}"
            raise LaunchError(self.name, message)

    def _grid(self, call: Specialized, grid: Grid | None) -> tuple[int, ...]:
        if grid is None:
            return implicit_grid(call.values, call.constants)
        scalars = {n: v.item() for n, v in call.values.items() if isinstance(v, np.generic)}
        return resolve_grid(grid, {**scalars, **call.constants})


def _parts(fn: Any) -> tuple[object, ...]:
    """What of a function can be assigned to and changes its parameters."""
    return fn.__code__, fn.__defaults__, fn.__kwdefaults__
