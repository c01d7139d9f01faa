"""The flat IR's text: prints, parses, and says where a text is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given

from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import FlatParseError, parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.text import print_module
from tests.conftest import SnapshotCheck
from tests.septran.flat.random_modules import modules
from tests.septran.modules import flash_attention, gemm, softmax


@given(modules)
def test_a_printed_module_parses_to_itself(module: Module) -> None:
    text = print_module(module)
    parsed = parse_module(text)
    assert parsed == module
    assert print_module(parsed) == text


MODULES = {
    "gemm": gemm(),
    "gemm_pipelined_3": expand_pipelines(gemm(3)),
    "softmax": softmax("f16"),
    "flash_attention": flash_attention(is_causal=True),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_text_is_one_statement_per_line(name: str, flat_snapshot: SnapshotCheck) -> None:
    flat_snapshot(name, print_module(MODULES[name]))


def test_a_module_prints_itself() -> None:
    assert str(MODULES["gemm"]) == print_module(MODULES["gemm"])


HEAD = "module m(A: f32 [M] GLOBAL r) machine cpu {\n"
KERNEL = HEAD + "  kernel k(A: f32 [M] GLOBAL r) grid [] threads 1 {\n    "


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("kernel", 1, 1, "expected `module`, found `kernel`"),
        ("module m(A: g32 [M] GLOBAL r)", 1, 13, "expected a dtype, found `g32`"),
        ("module m(A: f32 [M * N] GLOBAL r)", 1, 20, "`M` times `N` is not affine"),
        ("module m(A: f32 [M // 0] GLOBAL r)", 1, 20, "division by 0"),
        (HEAD + "  $", 2, 3, "unexpected character '$'"),
        (KERNEL + "jump A", 3, 5, "expected a statement, found `jump`"),
        (KERNEL + "fill A.GLOBAL[0:1]\n", 3, 23, "expected a number, found the end of the line"),
        (KERNEL + "wait t keep", 3, 16, "expected an affine expression, found the end of the line"),
        (
            KERNEL + "map A.GLOBAL[0:M] = twice(A.GLOBAL[0:M])\n",
            3,
            25,
            "there is no function `twice` of 1 operands",
        ),
        (
            KERNEL + "alloc S: f32 [M] SPM slots 1 pad 0\n",
            3,
            11,
            "the shape of `S` is not constant",
        ),
        (
            KERNEL + "barrier BLOCK GLOBAL\n",
            4,
            1,
            "expected a statement, found the end of the text",
        ),
    ],
)
def test_an_error_has_its_line_and_column(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(FlatParseError) as caught:
        parse_module(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)
