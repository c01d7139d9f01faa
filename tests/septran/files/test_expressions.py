"""Conditions in `constraints` and `when`: Python's meaning, or an error at its characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eas.septran.files.expressions import ExpressionError, holds, names_in, parse

NAMES = {"M": 7, "gemm.block_m": 64, "gemm.block_n": -3, "zero": 0}


def value_of(text: str) -> bool:
    return holds(parse(text), NAMES.get)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("M == 7", True),
        ("gemm.block_m % 8 == 0 and M < 8", True),
        ("1 <= M < 7", False),
        ("1 < 2 < 3 > 2 != 5", True),
        ("not M == 7 or M == 7", True),
        ("not (M == 7 or M == 7)", False),
        ("-7 // 2 == -4", True),
        ("-7 % 3 == 2", True),
        ("7 % gemm.block_n == -2", True),
        ("2 + 3 * 4 == 14", True),
        ("(2 + 3) * 4 == 20", True),
        ("- - 3 == 3", True),
        ("1 - 2 - 3 == -4", True),
        ("100 // 7 // 2 == 7", True),
        ("((M)) == (7)", True),
        ("(M == 7)", True),
    ],
)
def test_a_condition_means_what_it_means_in_python(text: str, value: bool) -> None:
    assert value_of(text) is value


numbers = st.integers(0, 100).map(str)
names = st.sampled_from(list(NAMES))
terms = st.recursive(
    numbers | names,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=8,
)
comparisons = st.tuples(
    terms, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), terms, st.just("<"), terms
).flatmap(lambda parts: st.sampled_from([" ".join(parts[:3]), " ".join(parts)]))
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map("not ({})".format),
        inner.map("({})".format),
    ),
    max_leaves=4,
)


@given(conditions)
def test_any_condition_means_what_it_means_in_python(text: str) -> None:
    plain = text.replace("gemm.block_m", "64").replace("gemm.block_n", "(-3)")
    try:
        expected = eval(plain, {"M": 7, "zero": 0})
    except ZeroDivisionError:
        expected = "zero"
    try:
        found = value_of(text)
    except ExpressionError as error:
        if len(text) > 500:
            return
        assert "divides by zero" in error.message or "64 bits" in error.message
        assert expected == "zero" or "64 bits" in error.message
    else:
        assert found == expected


@given(st.text(alphabet="0123456789 abM._()+-*/%<>=!&|'\"\\\n\té", max_size=60))
def test_any_text_is_a_condition_or_an_error_within_the_text(text: str) -> None:
    try:
        term = parse(text)
    except ExpressionError as error:
        assert 0 <= error.start < error.end <= len(text) + 1
    else:
        for named in names_in(term):
            assert text[named.start : named.end] == named.name


@pytest.mark.parametrize(
    ("text", "message", "marked"),
    [
        ("M / 2 < 3", "`/` cannot stand here", "/"),
        ("M = 7", "`=` cannot stand here", "="),
        ("M ** 2 < 3", "expected a number or a name, found `*`", "*"),
        ("M < 3 and 7", "this is a number, not a condition", "7"),
        ("M + 1", "this is a number, not a condition", "M + 1"),
        ("(M < 3) + 1 < 2", "this is a condition, not a number", "M < 3"),
        ("M < 3 M", "expected the end, found `M`", "M"),
        ("f(3) < 2", "expected the end, found `(`", "("),
        ("1_000 < M", "expected the end, found `_000`", "_000"),
        ("M.__class__ < 3 or x[0]", "`[` cannot stand here", "["),
    ],
)
def test_an_error_marks_its_characters(text: str, message: str, marked: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    error = caught.value
    assert (error.message, text[error.start : error.end]) == (message, marked)


def test_a_product_beyond_64_bits_is_an_error() -> None:
    text = " * ".join(["999999999"] * 40) + " > 0"
    with pytest.raises(ExpressionError, match="beyond 64 bits"):
        value_of(text)


def test_a_number_is_no_truth_and_a_truth_no_number() -> None:
    with pytest.raises(ExpressionError, match="`M` is the number 7"):
        value_of("M and M == 7")
    with pytest.raises(ExpressionError, match="`flag` is `true`, not a number"):
        holds(parse("flag == 1"), {"flag": True}.get)
    assert holds(parse("flag and not other"), {"flag": True, "other": False}.get)


def test_a_short_circuit_ends_as_in_python() -> None:
    assert value_of("M == 7 or 1 // zero == 1")
    assert not value_of("8 < M < 1 // zero")
    with pytest.raises(ExpressionError, match="divides by zero"):
        value_of("M == 8 or 1 // zero == 1")
