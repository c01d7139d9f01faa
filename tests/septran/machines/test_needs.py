"""What a machine needs is named before anything runs, with how to get it (S701)."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import eas
from eas.septran.files import load_machine
from eas.septran.operators import load
from eas.septran.targets import needs
from eas.septran.targets.library import Library, Need
from tests.septran.operators import FOLDER

GEMM = FOLDER / "gemm" / "gemm_logic.py"
OPENBLAS = FOLDER / "gemm" / "gemm.openblas.map.yaml"


def square() -> list[np.ndarray[Any, Any]]:
    return [np.zeros((4, 4), np.float32) for _ in range(3)]


def test_a_package_that_is_missing_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(needs, "folder_of", lambda _: None)
    operator = load(GEMM, OPENBLAS)
    with pytest.raises(eas.CompileError) as caught:
        operator(*square())
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S701"
    assert "the package `scipy_openblas32`, not found here" in diagnostic.message
    assert "`pip install 'easy_as[openblas]'`" in diagnostic.message


def test_what_does_not_run_here_is_checked_and_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "folder_of", lambda _: None)
    operator = load(GEMM, OPENBLAS)
    operator.check(M=64, N=64, K=64)
    assert "openblas_gemm(C" in operator.emit("c", M=64, N=64, K=64)


@pytest.mark.parametrize(
    ("need", "is_there"),
    [
        (Need("package", "numpy", ""), True),
        (Need("package", "no_such_package.inside", ""), False),
        (Need("command", "python3", ""), True),
        (Need("command", "no-such-command", ""), False),
        (Need("file", str(GEMM), ""), True),
        (Need("file", "/no/such/file", ""), False),
    ],
    ids=str,
)
def test_needs_are_looked_for(need: Need, is_there: bool) -> None:
    assert needs.missing(Library("some", needs=(need,))) == ([] if is_there else [need])


def test_a_library_that_its_package_does_not_have_is_named() -> None:
    library = Library("some", needs=(Need("package", "numpy", "pip install x", "no_such.so"),))
    with pytest.raises(needs.MissingError, match=r"has no no_such\.so: `pip install x`"):
        needs.require(library)


def test_a_need_names_one_thing(tmp_path: Path) -> None:
    machine = tmp_path / "odd.machine.yaml"
    text = (Path(__file__).parent / "pebble" / "pebble.machine.yaml").read_text("utf-8")
    machine.write_text(
        text.replace("name: pebble", "name: odd")
        + dedent("""\
            needs:
              - {install: pip install x}
              - {package: numpy, command: ls, install: pip install x}
        """),
        "utf-8",
    )
    with pytest.raises(eas.CompileError) as caught:
        load_machine(machine)
    assert [each.code for each in caught.value.diagnostics] == ["S107", "S109"]
