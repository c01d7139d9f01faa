"""`mk`: its names, its signatures, and the examples in its docstrings."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.intrinsic import MARK
from eas.ir.ops import OPS
from eas.ir.types import DTYPES

INTRINSICS: dict[str, Callable[..., Any]] = {
    name: value for name, value in vars(mk).items() if hasattr(value, MARK)
}
ON_HOST = {"cdiv", "static_range", "static_assert", "static_print"}


def op_name(function: Callable[..., Any]) -> str:
    return getattr(function, MARK)


# --- names and signatures ---------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_each_dtype_has_its_own_name(name: str) -> None:
    assert getattr(mk, name) is DTYPES[name]


# These are written as operators or indexing, or made by the compiler itself.
WITHOUT_A_NAME = {
    *(
        "add",
        "sub",
        "mul",
        "div",
        "floordiv",
        "mod",
        "neg",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "shr",
    ),
    *(
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "splat",
        "broadcast",
        "slice",
        "index",
        "cycle",
        "mma_word",
        "philox",
    ),
    *("thread_index", "lane_index", "simdgroup_index"),
}


def test_every_op_can_be_called() -> None:
    assert {op_name(f) for f in INTRINSICS.values()} >= OPS.keys() - WITHOUT_A_NAME


def has_record_signature(function: Callable[..., Any]) -> bool:
    """Whether the function's parameters begin with the operands and attributes of its record."""
    op = OPS[op_name(function)]
    names = (*op.operands, *op.attrs)
    return tuple(inspect.signature(function).parameters)[: len(names)] == names


def test_parameters_have_the_names_of_the_record() -> None:
    elementwise = [f for f in INTRINSICS.values() if op_name(f) in OPS and OPS[op_name(f)].operands]
    assert [f.__name__ for f in elementwise if not has_record_signature(f)] == []


@pytest.mark.parametrize("name", sorted(INTRINSICS.keys() - ON_HOST))
def test_a_call_outside_of_a_kernel_is_refused(name: str) -> None:
    function = INTRINSICS[name]
    arguments = [0 for _ in inspect.signature(function).parameters]
    with pytest.raises(eas.OutsideKernelError) as caught:
        function(*arguments)
    assert str(caught.value) == (
        f"mk.{name} works inside an @eas.kernel function, or in a helper that a kernel calls"
    )


@pytest.mark.parametrize(("a", "b", "quotient"), [(7, 2, 4), (8, 2, 4), (0, 3, 0), (-7, 2, -3)])
def test_cdiv_works_on_plain_ints(a: int, b: int, quotient: int) -> None:
    assert mk.cdiv(a, b) == quotient


def test_static_range_is_a_range_outside_of_kernels() -> None:
    assert mk.static_range(2, 9, 3) == range(2, 9, 3)


def test_static_assert_asserts_outside_of_kernels() -> None:
    with pytest.raises(AssertionError) as caught:
        mk.static_assert(mk.cdiv(1, 2) > 1, "too small")
    assert str(caught.value) == "too small"


def test_static_print_prints_outside_of_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    mk.static_print("the block is", 4)
    assert capsys.readouterr().out == "the block is 4\n"


# --- editors ----------------------------------------------------------------------------------

TYPED_KERNEL = """\
import eas
from eas import mk


@eas.kernel
def total(x: mk.Value, out: mk.Value, n: mk.i64, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, mask=offs < n).to(mk.f32)
    for k in range(mk.cdiv(n, BLOCK)):
        v += 2.0 * k
    same = (offs == 3)[:, None] & (offs[None, :] != 3)
    while mk.max(v) > mk.i32.max:
        v = mk.where(v > 1.0, v / 2.0, -v)
    mk.store(out + offs, abs(v) ** 2, mask=mk.any(same, axis=1))
"""

MISTAKES = """\
    mk.load(x, offs, msk=offs < n)
    mk.sum(v, axes=1)
    mk.stor(out, offs, v)
    mk.zeros("f32")
    mk.store(out)
"""


def test_a_type_checker_accepts_a_kernel_and_finds_its_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("# pyright: strict\n" + TYPED_KERNEL + MISTAKES)
    command = [sys.executable, "-m", "basedpyright", "--outputjson", str(path)]
    root = Path(__file__).parents[1]
    report = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    found = json.loads(report)["generalDiagnostics"]
    first = len(TYPED_KERNEL.splitlines()) + 1
    places = [(d["range"]["start"]["line"] - first, d["rule"]) for d in found]
    assert sorted(places) == [
        (0, "reportCallIssue"),
        (1, "reportCallIssue"),
        (2, "reportAttributeAccessIssue"),
        (2, "reportUnknownMemberType"),
        (3, "reportArgumentType"),
        (4, "reportCallIssue"),
    ]


# --- examples ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An example: lines of a kernel, and the value of the last one if it is an expression."""

    name: str
    lines: tuple[str, ...]
    value: str
    want: str

    def source(self) -> str:
        """A module with the example as a kernel that stores the value."""
        body = list(self.lines)
        if self.value:
            body.append(f"mk.store(result, {self.offsets()}, {self.value})")
        text = "".join(f"    {line}\n" for line in body)
        head = "import math\n\nimport eas\nfrom eas import mk\n\n"
        return f"{head}\n@eas.kernel\ndef example(x, out, result):\n{text}"

    def expected(self) -> np.ndarray[Any, Any]:
        value = np.array(ast.literal_eval(self.want or "0"))
        return value.astype({"b": "bool", "i": "int32", "f": "float32"}[value.dtype.kind])

    def offsets(self) -> str:
        shape = self.expected().shape
        if shape and any("mk.tid" in line for line in (*self.lines, self.value)):
            return f"mk.tid(0, {shape[0]})"
        if len(shape) == 2:
            rows, columns = (f"mk.arange(0, {extent})" for extent in shape)
            return f"{rows}[:, None] * {shape[1]} + {columns}[None, :]"
        return f"mk.arange(0, {shape[0]})" if shape else "0"


def cases_of(name: str, function: Any) -> Iterator[Case]:
    lines: list[str] = []
    examples: list[Example] = DocTestParser().get_examples(inspect.getdoc(function) or "")
    for number, example in enumerate(examples):
        text = example.source.rstrip("\n")
        if example.want:
            yield Case(f"{name}-{number}", tuple(lines), text, example.want)
        else:
            lines += text.split("\n")
    if examples and not examples[-1].want:
        yield Case(f"{name}-end", tuple(lines), "", "")


CASES = [case for name, f in {"module": mk, **INTRINSICS}.items() for case in cases_of(name, f)]


def test_every_function_has_an_example() -> None:
    assert {case.name.partition("-")[0] for case in CASES} == {"module", *INTRINSICS}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_examples_give_what_they_say(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(case.source())
    spec = importlib.util.spec_from_file_location("example", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    result = np.zeros_like(case.expected())
    module.example[1](x, out, result)
    np.testing.assert_allclose(result, case.expected(), rtol=1e-6, atol=1e-6)
