"""The Python that is left of a function once its constexpr arguments are known."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from textwrap import dedent
from typing import Any

from eas.frontend_ast.source.reading import read_source
from eas.frontend_ast.source.specialized import specialize

LIMIT = 4


def expect(fn: Callable[..., Any], constants: dict[str, object], text: str) -> None:
    assert specialize(read_source(fn), constants) == dedent(text).lstrip("\n")


def test_parameters_become_literals() -> None:
    def f(a, /, BLOCK, n=3, *, NAME="x", SHAPE=(1, 2)):
        """Its documentation."""
        return a * BLOCK, BLOCK**n, NAME, SHAPE[0]

    expect(
        f,
        {"BLOCK": -2, "NAME": "it's", "SHAPE": (4, 8)},
        '''
        def f(a, /, n=3):
            """Its documentation."""
            return a * -2, (-2) ** n, "it's", (4, 8)[0]
        ''',
    )


def test_a_value_without_a_literal_keeps_its_name() -> None:
    def f(a, TYPE, HIGH, SIZE):
        return TYPE(a), HIGH, SIZE

    expect(
        f,
        {"TYPE": int, "HIGH": math.inf, "SIZE": 3},
        """
        def f(a, TYPE, HIGH):
            return TYPE(a), HIGH, 3
        """,
    )


def test_decorators_are_dropped() -> None:
    def same(fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    @same
    @same
    def f(a):
        return a

    expect(f, {}, "def f(a):\n    return a\n")


def test_only_the_branch_that_is_taken_is_left() -> None:
    def f(a, MODE, SIZE):
        if MODE == "fast":
            a = 1
        elif MODE == "slow":
            a = 2
            if SIZE > LIMIT:
                a = 3
        else:
            a = 4
        return a if SIZE < LIMIT else -a

    expect(
        f,
        {"MODE": "slow", "SIZE": 8},
        """
        def f(a):
            a = 2
            a = 3
            return -a
        """,
    )


def test_a_condition_that_is_not_known_stays() -> None:
    def f(a, SIZE):
        if a > 0:
            a = SIZE
        elif SIZE == 1:
            a = 2
        return a if a else SIZE

    expect(
        f,
        {"SIZE": 1},
        """
        def f(a):
            if a > 0:
                a = 1
            else:
                a = 2
            return a if a else 1
        """,
    )


def test_known_operands_are_left_out_of_and_and_or() -> None:
    def f(a, FLAG, SIZE):
        if FLAG and SIZE == 3 and a:
            a = 1
        if not FLAG and a:
            a = 2
        if FLAG or a:
            a = 3
        return not FLAG or a

    expect(
        f,
        {"FLAG": True, "SIZE": 3},
        """
        def f(a):
            if a:
                a = 1
            a = 3
            return a
        """,
    )


def test_a_body_of_which_nothing_is_left_becomes_pass() -> None:
    def f(a, FLAG):
        for _ in range(a):
            if FLAG:
                a += 1

    expect(
        f,
        {"FLAG": False},
        """
        def f(a):
            for _ in range(a):
                pass
        """,
    )


def test_types_and_calls_of_pure_built_ins_are_known() -> None:
    def f(a, TYPE, SHAPE):
        if TYPE is int and len(SHAPE) == 2 and isinstance(SHAPE[0], int):
            return a
        return max(a, a)

    expect(
        f,
        {"TYPE": int, "SHAPE": (1, 2)},
        """
        def f(a, TYPE):
            return a
            return max(a, a)
        """,
    )


def test_functions_of_the_user_are_not_run() -> None:
    def fail() -> bool:
        raise AssertionError

    def f(a):
        if fail():
            return 1
        return a

    expect(
        f,
        {},
        """
        def f(a):
            if fail():
                return 1
            return a
        """,
    )


def test_a_condition_that_raises_stays() -> None:
    def f(a, SIZE):
        if 1 // SIZE:
            return 1
        return a

    expect(
        f,
        {"SIZE": 0},
        """
        def f(a):
            if 1 // 0:
                return 1
            return a
        """,
    )


def test_a_parameter_that_is_assigned_to_is_set_at_the_start() -> None:
    def f(a, size):
        """Its documentation."""
        size = size * 2
        if size > 2:
            a = size
        return a

    expect(
        f,
        {"size": 8},
        '''
        def f(a):
            """Its documentation."""
            size = 8
            size = size * 2
            if size > 2:
                a = size
            return a
        ''',
    )


def test_a_name_that_is_local_does_not_mean_what_it_means_outside() -> None:
    def f(LIMIT, len):
        if LIMIT == 4 or len == 3:
            return 1
        return 2

    assert specialize(read_source(f), {}) == ast.unparse(read_source(f).node) + "\n"


def test_a_closure_is_known() -> None:
    size = 3

    def f(a):
        return a if size == 3 else -a

    expect(f, {}, "def f(a):\n    return a\n")


def test_match_statements_are_printed() -> None:
    def f(a, SIZE):
        match a:
            case 1 | 2:
                return SIZE
            case _:
                return a

    expect(
        f,
        {"SIZE": 3},
        """
        def f(a):
            match a:
                case 1 | 2:
                    return 3
                case _:
                    return a
        """,
    )


def test_a_lambda_is_specialized_as_well() -> None:
    expect(lambda a, SIZE: a + SIZE, {"SIZE": 3}, "(lambda a: a + 3)\n")


def test_the_ast_of_the_user_is_left_alone() -> None:
    def f(a, SIZE):
        if SIZE:
            a = SIZE
        return a

    source = read_source(f)
    before = ast.dump(source.node, include_attributes=True)
    specialize(source, {"SIZE": 3})
    assert ast.dump(source.node, include_attributes=True) == before
