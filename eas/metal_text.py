"""The Metal text of a compiled function, and what is decided before it is written.

`import eas` does not import this module: the writer is loaded for the first kernel.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from eas.compile_contexts import refusing_depth, reporting_faults, run_verified
from eas.frontend_ast.source.errors import CompileError
from eas.ir.nodes import Function
from eas.msl.kernel import (
    MslKernel,
    ThreadgroupMemory,
    describe,
    describe_tree,
    list_memory,
    write,
)
from eas.msl.ops.errors import UnsupportedError
from eas.msl.pipeline import RELAX_METAL
from eas.support.collector import without_collector
from eas.support.timing import timed


@without_collector()
def write_msl(function: Function, threads: int | None) -> MslKernel:
    """The Metal text of a compiled function."""
    with timed(function.name, "writing Metal"), _relaxed_for_metal(function) as relaxed:
        return write(relaxed, threads)


def describe_msl(function: Function, threads: int | None) -> str:
    """What is decided before the Metal text of a compiled function is written."""
    with _relaxed_for_metal(function) as relaxed:
        return "\n".join(describe(relaxed, threads))


def describe_msl_tree(function: Function, threads: int | None) -> str:
    """The C++ tree that becomes the Metal text of a compiled function."""
    with _relaxed_for_metal(function) as relaxed:
        return describe_tree(relaxed, threads)


@without_collector()
def list_msl_memory(function: Function, threads: int | None) -> tuple[ThreadgroupMemory, ...]:
    """The threadgroup memory of a compiled function on Metal."""
    with _relaxed_for_metal(function) as relaxed:
        return list_memory(relaxed, threads)


@contextmanager
def _relaxed_for_metal(function: Function) -> Generator[Function]:
    with refusing_depth(function):
        relaxed = run_verified(RELAX_METAL, function)
        try:
            with reporting_faults(function):
                yield relaxed
        except UnsupportedError as error:
            raise CompileError([error.diagnostic], function.name) from error
