"""Logics with mistakes: each has its code and its line, and none is a traceback or takes long."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import eas
from tests.septran.small import host, make
from tests.septran.wrong_logics import IN_INNER, IN_LEAVES, INNER, LEAF, WHOLE

SECONDS = 10.0  # of the processor's time, on a slow and busy machine
CASES = [
    pytest.param(text, code, id=name)
    for name, text, code in (
        *((f"leaf: {s[:50]}", LEAF.replace("{leaf}", s), c) for s, c in IN_LEAVES.items()),
        *((f"inner: {s[:50]}", INNER.replace("{inner}", s), c) for s, c in IN_INNER.items()),
        *((name, *both) for name, both in WHOLE.items()),
    )
]


def test_there_are_hundreds_of_wrong_logics() -> None:
    assert len(CASES) > 250


def build(text: str, folder: Path) -> set[str]:
    """The codes of what is wrong with a logic, each at a place; a code of "" is no mistake."""
    try:
        operator = make(folder, text, host("cpu"))
        operator.build(np.zeros((16, 16), "f4"), np.zeros((16, 16), "f4"))
    except eas.CompileError as error:
        assert str(error)
        assert all(each.loc.line >= 1 for each in error.diagnostics)
        return {each.code for each in error.diagnostics}
    return {""}


@pytest.mark.parametrize(("text", "code"), CASES)
def test_a_mistake_in_a_logic_has_its_code_and_a_place(
    text: str, code: str, tmp_path: Path
) -> None:
    start = time.process_time()
    assert build(text, tmp_path) == {code}
    assert time.process_time() - start < SECONDS
