"""What surrounds the steps of a compile: its errors and the verifier."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from eas.frontend_ast.source.errors import internal_error, too_deep
from eas.ir.nodes import Function
from eas.ir.pipeline import Pipeline, run
from eas.ir.verify import VerifyError, verify


def run_verified(pipeline: Pipeline[None], function: Function) -> Function:
    """The function after the passes of a pipeline, verified."""
    with reporting_faults(function):
        function = run(pipeline, function, None)
        verify(function, pipeline.end)
        return function


@contextmanager
def reporting_faults(function: Function) -> Generator[None]:
    """What breaks the IR's contract here is a fault of the compiler, not of the kernel."""
    try:
        yield
    except VerifyError as error:
        raise internal_error(error, error.loc, function.name) from error


@contextmanager
def refusing_depth(function: Function) -> Generator[None]:
    """A kernel that is nested deeper than Python's stack is refused, like any other."""
    try:
        yield
    except RecursionError as error:
        raise too_deep(function.body.ops[0].loc, function.name) from error
