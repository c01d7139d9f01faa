"""`docs/septran_files.md` is true: its files load, and its errors are those of a snapshot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from eas.septran.files import load_machine, machine
from eas.septran.files.mapping import Instance, MappingFile
from eas.septran.files.model import Strict
from eas.septran.files.tune_tags import TUNE_TYPES
from eas.septran.operators import load
from tests.septran.files.checking import check, chosen_in

REPOSITORY = Path(__file__).parent.parent.parent.parent
LOGIC = REPOSITORY / "examples/septran/gemm/gemm_logic.py"
PAGE = (REPOSITORY / "docs" / "septran_files.md").read_text("utf-8")
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"^# (\S+\.yaml)$", re.MULTILINE)


def test_the_files_on_the_page_are_right(tmp_path: Path) -> None:
    names: list[str] = []
    for block in BLOCK.findall(PAGE):
        [name] = NAME.findall(block)
        (tmp_path / name).write_text(block, "utf-8")
        check(tmp_path / name)
        if name.endswith(".map.yaml"):
            load(LOGIC, tmp_path / name, tune=chosen_in(block)).check(M=512, N=512, K=512)
        names.append(name)
    assert names == [
        "gemm.apple_gpu.map.yaml",
        "gemm_on_apple_gpu.map.yaml",
        "tiny.machine.yaml",
    ]
    assert load_machine(tmp_path / "tiny.machine.yaml").name == "tiny"


def test_the_page_shows_a_snapshot() -> None:
    found = re.search(r"<!-- (\S+) -->\n```\n(.*?)^```\n", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert (REPOSITORY / found.group(1)).read_text("utf-8") == found.group(2)


def is_model(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, Strict)


def test_the_page_names_every_key() -> None:
    models = {each for each in vars(machine).values() if is_model(each)} - {Strict}
    assert len(models) > 8
    for model in (Instance, MappingFile, *models):
        for key in set(model.model_fields) - {"task_mappings"}:
            assert f"`{key}`" in PAGE, f"{model.__name__}.{key}"
    for kind in TUNE_TYPES:
        assert f"| `{kind}` |" in PAGE
