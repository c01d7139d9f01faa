"""Numbers and comments that a text would repeat stand in it once."""

from __future__ import annotations

from eas.septran.flat.parser import parse_module
from eas.septran.operators import load
from eas.septran.targets.codegen_dsa import print_c
from eas.septran.targets.library import PLAIN_C
from tests.septran.modules import gemm
from tests.septran.operators import FOLDER
from tests.septran.targets.machines import AWESOMEDSA


def body_of(statements: str) -> list[str]:
    """The C of statements in a loop over `i`, without the indentation of the loop."""
    params = "Y: f32 [M, N] GLOBAL rw"
    module = parse_module(
        f"module m({params}) machine c {{\nkernel k({params}) grid [i < M] threads 1 {{\n"
        f"{statements}\n}}\n}}\n"
    )
    lines = print_c(module, PLAIN_C).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("    for (int64_t i"))
    return [line[8:] for line in lines[start + 1 : lines.index("    }")]]


def test_an_extent_that_is_used_twice_has_a_name() -> None:
    rows = "Y.GLOBAL[0 : min(4, M - i), 0]"
    assert body_of(f"fill {rows} 1.0\nfill {rows} 2.0")[:2] == [
        "const int64_t i_extent = septran_min_i64(4, M - i);",
        "for (int64_t e0 = 0; e0 < i_extent; ++e0) {",
    ]


def test_an_extent_that_is_used_once_has_none() -> None:
    assert body_of("fill Y.GLOBAL[0 : min(4, M - i), 0] 1.0")[0] == (
        "for (int64_t e0 = 0; e0 < septran_min_i64(4, M - i); ++e0) {"
    )


def test_a_number_of_an_inner_loop_is_named_there() -> None:
    element = "Y.GLOBAL[0, k // 2]"
    lines = body_of(f"for k < N {{\nfill {element} 1.0\nfill {element} 2.0\n}}")
    assert lines[:2] == [
        "for (int64_t k = 0; k < N; ++k) {",
        "    const int64_t k_tiles = septran_floor_div(k, 2);",
    ]


def test_a_name_is_not_one_of_the_kernel() -> None:
    loop = "for i_extent < min(4, M - i) {\nfill Y.GLOBAL[i_extent, min(4, M - i)] 1.0\n}"
    assert body_of(loop)[0] == "const int64_t i_extent_ = septran_min_i64(4, M - i);"


def test_gemm_computes_each_minimum_once() -> None:
    lines = print_c(gemm(2), AWESOMEDSA).splitlines()
    minima = [line.strip() for line in lines if "septran_min_i64" in line]
    assert len(minima) == len(set(minima)) == 6  # four extents, the prologue's trips, the wait


def test_a_comment_stands_once_in_a_text() -> None:
    gemm_folder = FOLDER / "gemm"
    for machine, kind in (("awesomedsa", "c"), ("awesomedsa", "tvmscript"), ("h100", "tilelang")):
        operator = load(gemm_folder / "gemm_logic.py", gemm_folder / f"gemm.{machine}.map.yaml")
        text = operator.emit(kind, M=200, N=300, K=100)
        comments = [line.strip() for line in text.splitlines() if line.strip()[:1] in ("#", "/")]
        places = [each for each in comments if ".map.yaml:" in each and "gemm_logic.py:" in each]
        assert len(places) == len(set(places)) >= 5
