"""The work of a compile grows with the text, and not with its powers."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import eas.frontend_ast.loops as loops
from eas import mk
from eas.frontend_ast import ArrayArg
from eas.frontend_ast.lower import lower
from eas.ir.nodes import Function, walk
from eas.ir.passes import optimize
from eas.ir.types import I32

SCALAR, LANES = "mk.program_id(0)", "mk.arange(0, 8)"
every_index = pytest.mark.parametrize("index", [SCALAR, LANES], ids=["scalar", "lanes"])


def load(lines: list[str]) -> Any:
    text = "\n".join(lines)
    linecache.cache["<kernel>"] = (len(text), None, text.splitlines(keepends=True), "<kernel>")
    module: dict[str, Any] = {"mk": mk}
    exec(compile(text, "<kernel>", "exec"), module)
    return module["kernel"]


def lowered(lines: list[str]) -> Function:
    array = ArrayArg(I32, 1)
    return lower(load(lines), {"x": array, "out": array}).function


def count_ops(function: Function) -> int:
    return sum(1 for _ in walk(function.body))


def nested_loops(depth: int, index: str) -> list[str]:
    lines = ["def kernel(x, out):", f"    i = {index}", "    a, b, c = 0, 0, 1"]
    for level in range(depth):
        lines.append("    " * (level + 1) + f"for k{level} in range(x[i] % {level + 2}):")
    indent = "    " * (depth + 1)
    lines += [f"{indent}a, b, c = b, c, a + x[i]", f"{indent}if a > 5:", f"{indent}    break"]
    return [*lines, "    out[i] = a + b + c"]


@every_index
def test_nested_loops_are_tried_a_few_times_each(
    index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials: list[int] = []
    try_loop = loops._try  # pyright: ignore[reportPrivateUsage]

    def counted(*arguments: Any) -> Any:
        trials.append(1)
        return try_loop(*arguments)

    monkeypatch.setattr(loops, "_try", counted)
    lowered(nested_loops(6, index))
    assert len(trials) < 100


def branches_in_a_row(count: int, index: str) -> list[str]:
    lines = ["def kernel(x, out):", f"    i = {index}", "    v = 0"]
    for number in range(count):
        lines += [f"    if x[i] > {number} and v < 9:", f"        v += {number}"]
        if number % 2:
            lines += ["        out[i] = v", "        return"]
        lines += ["    else:", "        v -= 1"]
    return [*lines, "    out[i] = v"]


def helpers_that_call_each_other(depth: int, index: str) -> list[str]:
    lines = ["def helper0(v):", "    return v"]
    for number in range(1, depth):
        lines += [f"def helper{number}(v):", f"    if v > {number}:"]
        lines += [f"        return helper{number - 1}(v - 1) + 1", "    return v"]
    return [
        *lines,
        "def kernel(x, out):",
        f"    i = {index}",
        f"    out[i] = helper{depth - 1}(x[i])",
    ]


def exits_of_rows_and_lanes(count: int, index: str) -> list[str]:
    del index
    lines = ["def kernel(x, out):", "    r, c = mk.arange(0, 4)[:, None], mk.arange(0, 2)[None, :]"]
    lines.append("    v = r")
    for number in range(count):
        lines += [f"    if v > {number}:", f"        if x[r + c] > {number}:", "            return"]
        lines += ["        v = v + 1", "    else:", "        v = v - 1"]
    return [*lines, "    out[r + c] = v"]


@every_index
@pytest.mark.parametrize(
    ("write", "count"),
    [
        (nested_loops, 6),
        (branches_in_a_row, 30),
        (helpers_that_call_each_other, 20),
        (exits_of_rows_and_lanes, 12),
    ],
)
def test_twice_the_text_gives_about_twice_the_ops(write: Any, count: int, index: str) -> None:
    half, whole = (lowered(write(n, index)) for n in (count // 2, count))
    assert count_ops(whole) < 3 * count_ops(half)
    assert count_ops(optimize(whole)) < 3 * count_ops(optimize(half))
