"""Runs a kernel that `eas.msl` has written over a grid of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import Param
from eas.msl.arrays import Bound, Extents
from eas.msl.host.build import Library
from eas.msl.host.dispatch import Dispatch
from eas.msl.host.worker_client import Host, default_host
from eas.msl.kernel import MslKernel
from eas.msl.launch import Argument, launch
from eas.support.diagnostics import Diagnostic


def run(
    kernel: MslKernel,
    params: Sequence[Param],
    arguments: Sequence[Argument],
    grid: Sequence[int],
    *,
    host: Host | None = None,
    library: Library | None = None,
    unit: int = 0,
    order: str = "forward",
    program_output: Callable[[str], None] = print,
) -> tuple[Diagnostic, ...]:
    """Runs the text and writes the results into the arrays; gives what asserts have found.

    There is one argument per parameter of the kernel's function. A `library` may hold the kernel
    already, as its `unit`-th text. The `order` is that of threads that could run in any.
    """
    host = host or default_host()
    library = library or host.builder.build([kernel.text])
    threads = (kernel.threads, 1, 1)

    def prepare(buffers: Sequence[Bound], extents: Extents) -> Dispatch:
        return Dispatch(host, library, kernel.name, buffers, threads, extents, unit, order=order)

    with host.exclusive():
        return launch(kernel, params, arguments, grid, prepare, program_output)
