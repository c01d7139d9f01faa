"""The page that compares lines with TileLang: its numbers are those of the script."""

from __future__ import annotations

import ast

import pytest

from scripts.compare_tilelang import START
from scripts.count_lines import BY_HAND, by_hand, python_lines, table, yaml_lines
from tests.septran.operators import EXAMPLES, REPOSITORY

PAGE = (REPOSITORY / "docs" / "septran_comparison.md").read_text("utf-8")


def cells(text: str) -> dict[str, list[str]]:
    """The rows of operators by name."""
    rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines())
    names = {example.name for example in EXAMPLES}
    return {row[0]: row for row in rows if row and row[0] in names}


def test_the_page_has_the_lines_that_the_script_counts() -> None:
    shown, counted = cells(PAGE.partition(START)[0]), cells(table())
    assert shown.keys() == counted.keys() == {example.name for example in EXAMPLES}
    for name, row in counted.items():
        assert [shown[name][n] for n in (1, 4, 5)] == [row[n] for n in (1, 4, 5)]


@pytest.mark.parametrize("path", sorted(BY_HAND.glob("*.txt")), ids=lambda path: path.stem)
def test_a_text_by_hand_is_python(path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert any(isinstance(node, ast.With) for node in ast.walk(tree))
    assert by_hand(path.stem) != " | "


def test_lines_without_code_do_not_count() -> None:
    assert python_lines('"""Words."""\n\n# a comment\nx = (1,\n     2)\n') == ["x = (1,", "     2)"]
    assert yaml_lines("# a comment\n\na: 1\n  # another\nb: 2\n") == ["a: 1", "b: 2"]
