"""Names of the user's that mean something else in Metal, or that the writer uses itself."""

from __future__ import annotations

import numpy as np

from eas.ir.builder import Builder as IrBuilder
from eas.ir.nodes import Function, Param, Region, Value, Yield
from eas.ir.types import I32, Pointer, Scalar
from eas.ir.verify import verify
from eas.msl.cxx.helpers import HELPERS
from eas.msl.cxx.names import RESERVED
from eas.msl.host import Host, inspect, run
from eas.msl.host.lint_rules import RESERVED as REFUSED
from eas.msl.kernel import write
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter import run as interpret
from eas.support.location import NOWHERE, SourceName
from eas.support.records import replace

WORDS = (
    *sorted(RESERVED | REFUSED),
    *("half2x2", "INT8_MAX", "M_LN2_F", "depthcube_array", "t", "lane", "program"),
)
OPS = ("floordiv", "mod", "truncdiv", "truncmod", "add", "sub", "mul", "shl")


def function_with(words: tuple[str, ...], name: str = "words") -> Function:
    """Arguments and values of these names, with ops that need helper functions."""
    build = IrBuilder(next_id=1 + len(words))
    out = Value(0, Pointer(I32), "out")
    numbers = [Value(1 + n, Scalar(I32), word) for n, word in enumerate(words)]
    total = build.constant(1000, I32)
    for place, number in enumerate(numbers):
        total = build.compute(OPS[place % len(OPS)], total, number)
        total = replace(total, hint=number.hint)
        build.ops[-1] = replace(build.ops[-1], result=total)
        build.store(out, build.constant(place, I32), total)
    build.emit(Yield((), NOWHERE))
    params = tuple(Param(value) for value in (out, *numbers))
    function = Function(name, params, Region((), tuple(build.ops)), SourceName("words.py"))
    verify(function)
    return function


def results(host: Host | None, function: Function) -> list[int]:
    words = len(function.params) - 1
    out = np.zeros(words, np.int32)
    arguments = [ArrayArgument(out), *(np.int32(1 + n % 3) for n in range(words))]
    if host is None:
        interpret(function, arguments, (1,))
    else:
        run(write(function), function.params, arguments, (1,), host=host)
    return out.tolist()


def test_every_reserved_word_can_name_arguments_and_values(host: Host) -> None:
    function = function_with(WORDS)
    assert inspect(write(function).text) == []
    assert results(host, function) == results(None, function)


def test_every_helper_can_name_a_kernel(host: Host) -> None:
    words = (*HELPERS, "kernel", "max", "half", "Scalars", "report", "simd_sum", "local")
    texts = [write(function_with(("a", "b", "c", "d", "e", "f", "g", "h"), word)) for word in words]
    host.builder.build([each.text for each in texts])
    assert [each.name for each in texts] == [f"{word}_" for word in words]
    assert inspect(texts[0].text) == []


def test_a_kernel_may_have_any_name_that_the_way_in_uses(host: Host) -> None:
    words = ("buffers", "shared", "me", "entry", "thread_position", "program", "arguments")
    for word in words:
        function = function_with(("a", "b"), word)
        assert results(host, function) == results(None, function)
