"""Runs the passes of Metal one by one: every function on the way is legal and means the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eas.ir.nodes import Function, TargetOp, walk
from eas.ir.pipeline import Pipeline, steps
from eas.ir.text import parse_function, print_function
from eas.ir.verify import verify
from eas.msl.layout.layout import Budget
from eas.msl.pipeline import METAL, PREPARE, RELAX_METAL, MetalOptions
from eas.runtime.interpreter import run
from tests.fuzz.running import load

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]

BUDGETS = tuple(
    Budget(buffers, keeps_factors=keeps) for buffers in (2, 1) for keeps in (True, False)
)


def check_passes(
    text: str, arrays: Callable[[], Arrays], programs: int, **scalars: int
) -> set[str]:
    """Checks the passes on the kernel `compute` of a text.

    Gives the names of those that acted, and of the target ops that they made. After each pass the
    function is verified, comes back from its text, and writes what it wrote before all of them.
    """
    compiled = load(text)["compute"].compile(**dict.fromkeys(arrays(), "*f32"), **scalars)
    acted: set[str] = set()

    def interpret(function: Function) -> Arrays:
        given = arrays()
        run(function, compiled.binding.bind({**given, **scalars}), (programs,))
        return given

    expected = interpret(compiled.function)

    def check(pipeline: Pipeline[MetalOptions], function: Function, budget: Budget) -> Function:
        for each, stage, after in steps(pipeline, function, MetalOptions(None, budget)):
            if after == function:
                continue
            acted.add(each.name)
            function = after
            acted.update(op.op.name for op in walk(function.body) if isinstance(op, TargetOp))
            verify(function, stage)
            assert parse_function(print_function(function), stage.ops) == function, each.name
            found = interpret(function)
            for name, array in expected.items():
                message = f"`{name}` after {each.name} with {budget}:\n\n{text}"
                np.testing.assert_array_equal(found[name], array, message)
        return function

    function = compiled.function
    for pipeline in (RELAX_METAL, PREPARE):
        function = check(pipeline, function, Budget())
    for budget in BUDGETS:
        check(METAL, function, budget)
    return acted
