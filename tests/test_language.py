"""`mk`: its names, its signatures, and the examples in its docstrings."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.frontend_ast import foreign
from eas.frontend_ast.intrinsics import HANDLERS, is_function_of_mk
from eas.frontend_ast.reductions import COMBINATIONS
from eas.intrinsic import MARK
from eas.ir.ops import OPS
from eas.ir.types import DTYPES
from tests.backends import BACKENDS
from tests.thorough import on_backends, sampled

INTRINSICS: dict[str, Callable[..., Any]] = {
    name: value for name, value in vars(mk).items() if hasattr(value, MARK)
}
ON_HOST = {"cdiv", "static_range", "static_assert", "static_print"}


def op_name(function: Callable[..., Any]) -> str:
    return getattr(function, MARK)


@pytest.mark.parametrize("name", DTYPES)
def test_each_dtype_has_its_own_name(name: str) -> None:
    assert getattr(mk, name) is DTYPES[name]


def test_the_page_of_the_language_lists_every_function() -> None:
    page = (Path(__file__).parent.parent / "docs/language.md").read_text("utf-8")
    table = page.partition("## Operations\n")[2].partition("\n`mk.load")[0]
    listed = {word for part in re.findall("`([^`]+)`", table) for word in re.findall(r"\w+", part)}
    assert INTRINSICS.keys() - listed == set()


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
    assert str(caught.value).startswith("too small")  # pytest may add the condition


def test_static_print_prints_outside_of_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    mk.static_print("the block is", 4)
    assert capsys.readouterr().out == "the block is 4\n"


def test_names_of_triton_are_mentioned_only_where_there_are_none_here() -> None:
    parameters = {p for f in INTRINSICS.values() for p in inspect.signature(f).parameters}
    assert [name for name in foreign.NAMES if hasattr(mk, name)] == []
    assert [name for name in foreign.OF_DTYPES if hasattr(mk.f32, name)] == []
    assert foreign.PARAMETERS.keys() & parameters == set()


def test_what_is_said_about_names_of_triton_can_be_written() -> None:
    words = [*foreign.NAMES.values(), *foreign.PARAMETERS.values(), *foreign.OF_DTYPES.values()]
    named = {name for text in words for name in re.findall(r"\bmk\.(\w+)", text)}
    assert [name for name in named if not hasattr(mk, name)] == []
    renamed = {n for w in foreign.PARAMETERS.values() for n in re.findall(r"it is `(\w+)` here", w)}
    assert renamed <= {p for f in INTRINSICS.values() for p in inspect.signature(f).parameters}


HEAD = "import math\n\nimport eas\nfrom eas import mk\n"


@dataclass(frozen=True)
class Case:
    """An example: lines of a kernel, and the value of the last one if it is an expression."""

    name: str
    lines: tuple[str, ...]
    value: str
    want: str

    @property
    def kernel(self) -> str:
        return self.name.replace("-", "_")

    def source(self) -> str:
        """The example as a kernel that stores the value."""
        body = list(self.lines)
        if self.value:
            body.append(f"mk.store(result, {self.offsets()}, {self.value})")
        text = "".join(f"    {line}\n" for line in body)
        return f"\n\n@eas.kernel\ndef {self.kernel}(x, out, result):\n{text}"

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


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The kernels of all examples, by their name, out of one module."""
    path = tmp_path_factory.mktemp("language") / "examples.py"
    path.write_text(HEAD + "".join(case.source() for case in CASES))
    spec = importlib.util.spec_from_file_location("examples", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


@pytest.mark.parametrize(
    ("case", "backend"),
    on_backends(BACKENDS, [(case,) for case in CASES]),
)
@sampled(5)
def test_the_examples_give_what_they_say(
    case: Case, backend: Backend, examples: dict[str, Any]
) -> None:
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    result = np.zeros_like(case.expected())
    examples[case.kernel][1](x, out, result, _backend=backend)
    np.testing.assert_allclose(result, case.expected(), rtol=1e-6, atol=1e-6)


def test_the_front_end_knows_the_functions_of_mk_by_their_names() -> None:
    known = {*OPS, *HANDLERS, *COMBINATIONS, *INTRINSICS, *dir(np)}
    assert {name for name in known if is_function_of_mk(name)} == INTRINSICS.keys()


def test_what_is_said_about_functions_of_numpy_can_be_written() -> None:
    said = {**foreign.NUMPY, **foreign.RANDOMS, **foreign.OUTER}
    written = {name for text in said.values() for name in re.findall(r"mk\.(\w+)", text)}
    assert written | set(foreign.RENAMED.values()) <= set(dir(mk))
    assert all(hasattr(np, name) for name in {**foreign.NUMPY, **foreign.RENAMED})
