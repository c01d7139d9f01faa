"""Random kernels mean what they mean in CPython: with scalars, and lane by lane.

`EAS_FUZZ=100000 uv run pytest tests/test_same_as_cpython.py` runs that many programs.
"""

from __future__ import annotations

import ast
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.program import make_program
from tests.fuzz.running import load, write_file
from tests.thorough import batches

PROGRAMS_PER_TEST = 25
NUMBERS = batches("EAS_FUZZ", PROGRAMS_PER_TEST, always=25, thoroughly=2000)
SIZES = (3, 4, 5, 6, 8, 10, 14, 30)


@pytest.fixture(autouse=True)
def stop_endless_loops_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_MAX_TRIPS", "10000")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_kernel_gives_the_same_as_the_function_in_cpython(number: int) -> None:
    @seed(number)
    @settings(
        max_examples=PROGRAMS_PER_TEST,
        phases=(Phase.generate, Phase.shrink),
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    @given(st.randoms(use_true_random=False), st.sampled_from(SIZES))
    def check_program(random: Random, size: int) -> None:
        check(write_file(make_program(random, size)))

    check_program()


def check(text: str) -> None:
    """Fails with the text of the program, which is a file that can be run by itself."""
    try:
        load(text)["check"]()
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n\n{text}") from error


CONSTRUCTS = {
    *(ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr),
    *(ast.For, ast.FunctionDef, ast.If, ast.Match, ast.Pass, ast.Return, ast.While),
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.GeneratorExp),
    *(ast.IfExp, ast.Lambda, ast.ListComp, ast.Name, ast.NamedExpr, ast.Starred, ast.Subscript),
    *(ast.Tuple, ast.UnaryOp, ast.keyword),
    *(ast.MatchAs, ast.MatchOr, ast.MatchSingleton, ast.MatchValue),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.Invert, ast.Not, ast.UAdd, ast.USub),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
}


def test_the_programs_use_every_construct() -> None:
    found: set[type[ast.AST]] = set()
    for number in range(200):
        program = make_program(Random(number), 20)
        text = "\n".join((*program.helpers, *program.body))
        found |= {type(node) for node in ast.walk(ast.parse(text))}
    assert found >= CONSTRUCTS, CONSTRUCTS - found
