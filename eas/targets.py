"""The passes of each target, and the function that one of them leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eas.compile_contexts import refusing_depth, reporting_faults
from eas.frontend_ast.lower import lower
from eas.frontend_ast.source.errors import CompileError
from eas.frontend_ast.source.parameters import Argument
from eas.ir.nodes import Function
from eas.ir.passes import COMMON
from eas.ir.passes.strides import with_unit_strides
from eas.ir.pipeline import Pipeline, chain, run
from eas.msl.kernel import choose_budget
from eas.msl.ops.errors import UnsupportedError
from eas.msl.pipeline import METAL, MetalOptions
from eas.support.close_names import closest
from eas.support.collector import without_collector

TARGETS = ("metal", "cpu")


class UnknownPassError(ValueError):
    """A target has no pass of that name; the message says which it has."""


def check_target(target: str) -> None:
    """Raises a `ValueError` for what is no target."""
    if target not in TARGETS:
        raise ValueError(f"there is no target {target!r}; there are {', '.join(TARGETS)}")


def pipelines_of(target: str) -> tuple[Pipeline[Any], ...]:
    """The pipelines of a target in their order, the one for all targets first."""
    check_target(target)
    if target == "cpu":
        from eas.llvm.pipeline import CPU  # which most programs need not import

        return chain(CPU)
    return chain(METAL)


def names_of(target: str) -> tuple[str, ...]:
    """The names of the passes of a target, in their order."""
    return tuple(each.name for pipeline in pipelines_of(target) for each in pipeline.passes)


def check_pass(name: str, target: str) -> None:
    """Raises `UnknownPassError` for a name that no pass of a target has."""
    names = names_of(target)
    if name in names:
        return
    near = closest(name, names)
    others = [other for other in TARGETS if name in names_of(other)]
    if others:
        hint = f"the target {others[0]} has it"
    else:
        hint = f"did you mean `{near[0]}`?" if near else "no other target has it either"
    message = f"the target {target} has no pass `{name}`; {hint}"
    raise UnknownPassError(f"{message}\nits passes are {', '.join(names)}")


def function_after(function: Function, target: str, name: str, threads: int | None) -> Function:
    """A function of the front end after a pass of a target.

    For the CPU it is the one for arrays whose rows have no gaps, without checks, as `to_llvm` has.
    """
    check_pass(name, target)
    for pipeline in pipelines_of(target):
        function = run(pipeline, function, _options(pipeline, function, threads), name)
        if any(each.name == name for each in pipeline.passes):
            break
        if pipeline is COMMON and target == "cpu":
            function = with_unit_strides(function)
    return function


def _options(pipeline: Pipeline[Any], function: Function, threads: int | None) -> object:
    if pipeline is METAL:
        return MetalOptions(threads, choose_budget(function, threads))
    return MetalOptions(threads)


@without_collector()
def compile_until(
    fn: Callable[..., Any],
    arguments: Mapping[str, Argument],
    target: str,
    name: str,
    *,
    threads: int | None = None,
    fast_math: bool = False,
) -> Function:
    """The function after a pass of a target."""
    lowered = lower(fn, arguments, threads=threads, fast_math=fast_math).function
    with refusing_depth(lowered), reporting_faults(lowered):
        try:
            return function_after(lowered, target, name, threads)
        except UnsupportedError as error:
            raise CompileError([error.diagnostic], lowered.name) from error
