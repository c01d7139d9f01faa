"""What a machine needs is named before anything runs, with how to get it (S701)."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import eas
from eas.septran.files import load_machine
from eas.septran.files.writing import to_yaml
from eas.septran.logic.loading import load_logic
from eas.septran.lowering.skeleton import make_skeleton
from eas.septran.operators import Operator, load
from eas.septran.targets import needs
from eas.septran.targets.library import Library, Need
from tests.septran.operators import FOLDER
from tests.septran.small import refusal

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


def odd_pebble(folder: Path, **changed: str) -> Operator:
    """Gemm on a machine with some texts of its file changed, and its first mapping."""
    for path in (Path(__file__).parent / "pebble").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / "pebble.machine.yaml").read_text("utf-8")
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "pebble.machine.yaml").write_text(text, "utf-8")
    mapping = folder / "gemm.map.yaml"
    machine = load_machine(folder / "pebble.machine.yaml")
    mapping.write_text(to_yaml(make_skeleton(load_logic(GEMM).tasks, machine)), "utf-8")
    return load(GEMM, mapping)


@pytest.mark.parametrize("name", ["pebble.h", "pebble.c"])
def test_a_file_of_a_library_that_is_not_there_is_shown_in_the_machine_file(
    name: str, tmp_path: Path
) -> None:
    operator = odd_pebble(tmp_path)
    (tmp_path / name).unlink()
    [diagnostic] = refusal(operator, M=8, N=8, K=8).diagnostics
    assert diagnostic.code == "S701"
    assert diagnostic.message == f"there is no file `{tmp_path / name}`"
    assert diagnostic.loc.source.lines[diagnostic.loc.line - 1].startswith("library:")


def test_what_a_compiler_says_in_several_lines_is_a_message_and_notes(tmp_path: Path) -> None:
    operator = odd_pebble(tmp_path, pebble_move="pebble_shove")
    error = refusal(operator, M=8, N=8, K=8)
    [diagnostic] = error.diagnostics
    assert diagnostic.message.startswith("the compiler says: ")
    assert "pebble_shove" in diagnostic.message
    assert diagnostic.notes
    assert "\ufffd" not in str(error)


def test_a_machine_without_products_says_what_it_has(tmp_path: Path) -> None:
    operator = odd_pebble(tmp_path, **{"gemm:": "product:", "shape: {m: 8, n: 8, k: 8}": ""})
    [diagnostic] = refusal(operator, M=8, N=8, K=8).diagnostics
    assert diagnostic.code == "S501"
    assert diagnostic.notes == ("its `primitives` have no `gemm`, but `product`, `exp`",)


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
