"""The page that compares lines with TileLang: its numbers are those of the script."""

from __future__ import annotations

import ast

import pytest

from scripts.count_lines import BY_HAND, by_hand, machines_table, python_lines, table, yaml_lines
from tests.septran.operators import EXAMPLES, REPOSITORY

PAGE = (REPOSITORY / "docs" / "septran_comparison.md").read_text("utf-8")


def test_the_page_has_the_table_that_the_script_prints() -> None:
    assert table().count("\n") == 2 + len(EXAMPLES)
    assert f"\n{table()}\n" in PAGE


def test_the_page_has_the_lines_of_every_mapping_and_machine() -> None:
    counted = machines_table()
    assert counted.count("\n") == 2 + len(EXAMPLES) + 2  # causal attention, and the machines' files
    assert f"\n{counted}\n" in PAGE


@pytest.mark.parametrize("path", sorted(BY_HAND.glob("*.txt")), ids=lambda path: path.stem)
def test_a_text_by_hand_is_python(path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert any(isinstance(node, ast.With) for node in ast.walk(tree))
    assert by_hand(path.stem) != " | "


def test_lines_without_code_do_not_count() -> None:
    assert python_lines('"""Words."""\n\n# a comment\nx = (1,\n     2)\n') == ["x = (1,", "     2)"]
    assert yaml_lines("# a comment\n\na: 1\n  # another\nb: 2\n") == ["a: 1", "b: 2"]
