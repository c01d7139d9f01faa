"""Runs kernels that were compiled before: `eas.runtime.get_runtime()`.

    compiled = add.compile(a, b, c, n, BLOCK=256)
    runtime = eas.runtime.get_runtime()
    runtime.run(compiled, {"a": a, "b": b, "c": c, "N": n}, {"BLOCK": 256})

A launch is the kernel's own, `add(...)`, with all that it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, get_args

from eas.asynchronous import synchronize
from eas.compiler import CompiledKernel
from eas.config import Backend, BackendError, choose_backend, resolve_backend
from eas.runtime.grid import Grid, Threads, is_int
from eas.runtime.refusals import LaunchError


def get_runtime(name: str | None = None) -> Runtime:
    """What runs compiled kernels: on the backend of this name, or on the one that is chosen.

    >>> get_runtime("cpu")
    <runtime of the backend cpu>
    >>> get_runtime("cpu").is_available()
    True
    """
    return Runtime(name)


class Runtime:
    """Runs compiled kernels on one backend; `get_runtime` makes it."""

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        if name is not None and name not in get_args(Backend):
            resolve_backend(name)  # says so, and what there is

    def __repr__(self) -> str:
        return f"<runtime of the backend {self._name or self.backend}>"

    @property
    def backend(self) -> Backend:
        """The backend that a launch uses; raises `eas.BackendError` if it is not there."""
        return choose_backend(self._name)

    def is_available(self) -> bool:
        """Whether this machine has the backend."""
        try:
            choose_backend(self._name)
        except BackendError:
            return False
        return True

    def run(
        self,
        compiled: CompiledKernel,
        runtime_args: Mapping[str, Any],
        meta: Mapping[str, Any],
        *,
        sync: bool = True,
        nthreads: int | None = None,
        grid: Grid | None = None,
        tptg: Threads | None = None,
        shape: int | tuple[int, ...] | None = None,
    ) -> None:
        """Launches a kernel with its runtime and its constexpr arguments, by name.

        `nthreads`, `grid`, `tptg` and `shape` are `_nthreads`, `_grid`, `_tptg` and `_shape` of a
        launch.
        """
        options = {"_nthreads": nthreads, "_grid": grid, "_shape": shape, "_sync": sync}
        self._launcher(compiled, runtime_args, meta, tptg)(**options)

    def benchmark(
        self,
        compiled: CompiledKernel,
        runtime_args: Mapping[str, Any],
        meta: Mapping[str, Any],
        *,
        repeat: int = 20,
        warmup: int = 3,
        nthreads: int | None = None,
        grid: Grid | None = None,
        tptg: Threads | None = None,
        shape: int | tuple[int, ...] | None = None,
    ) -> float:
        """The seconds that a launch takes, on average of `repeat` launches after `warmup` others.

        Each of them has its effect: arrays are written that often.
        """
        for name, value, least in (("repeat", repeat, 1), ("warmup", warmup, 0)):
            if not is_int(value) or value < least:
                message = f"`{name}` is an int of at least {least}, not {value!r}"
                raise LaunchError(compiled.name, message)
        launch = self._launcher(compiled, runtime_args, meta, tptg)
        options = {"_nthreads": nthreads, "_grid": grid, "_shape": shape}
        for _ in range(warmup):
            launch(**options)
        self.synchronize()
        start = perf_counter()
        for _ in range(repeat):
            launch(**options)
        return (perf_counter() - start) / repeat

    def synchronize(self) -> None:
        """Waits for all launches that are not done."""
        synchronize()

    def _launcher(
        self,
        compiled: CompiledKernel,
        runtime_args: Mapping[str, Any],
        meta: Mapping[str, Any],
        tptg: Threads | None,
    ) -> Callable[..., None]:
        """The kernel with its arguments, which are those that it was compiled for."""
        kernel = compiled.kernel
        if kernel is None:
            message = "it was not compiled by a kernel's `compile`: use `eas.launch_function`"
            raise LaunchError(compiled.name, message)
        args, named = _by_position(compiled, runtime_args, meta)
        threads = compiled.threads_wanted if tptg is None else tptg
        now = kernel.compile(*args, _tptg=compiled.threads_wanted, **named)
        if not compiled.is_current() or now.signature != compiled.signature:
            raise LaunchError(
                compiled.name,
                f"it was compiled as `{compiled.signature}`, and these arguments need "
                f"`{now.signature}`"
                + (", or values that it captured have changed" * (not compiled.is_current()))
                + ": compile it again",
            )

        def launch(**options: Any) -> None:
            kernel(*args, _tptg=threads, _backend=self.backend, **named, **options)

        return launch


def _by_position(
    compiled: CompiledKernel, runtime_args: Mapping[str, Any], meta: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as a call takes them: what only has a position by position, others by name."""
    names = {p.name: p for p in compiled.kernel.parameters.all}
    for given, word, is_meta in ((runtime_args, "runtime_args", 0), (meta, "meta", 1)):
        for name in given:
            if name in names and names[name].is_constexpr != is_meta:
                kind, other = (("no", "runtime_args"), ("a", "meta"))[not is_meta]
                message = f"it is {kind} constexpr: it belongs in `{other}`, not in `{word}`"
                raise LaunchError(compiled.name, message, name)
    bound = {**runtime_args, **meta}
    places = [name for name, p in names.items() if p.by_position and not p.by_keyword]
    args = [bound.pop(name) for name in places if name in bound]
    return args, bound
