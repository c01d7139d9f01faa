"""What the user reads for the wrong examples of the pages on logic and lowering."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import eas
from eas.septran.codes import TITLES
from tests.septran.test_error_codes import check_page, files_of

CODES = [code for code in TITLES if code[1] in "2345789"]
SnapshotCheck = Callable[[str, str], None]


@pytest.mark.parametrize("code", CODES)
def test_the_errors_of_a_wrong_example_are_those_of_its_snapshot(
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    septran_error_snapshot: SnapshotCheck,
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [file.relative_to(tmp_path) for file in files_of(code, "Wrong", tmp_path)]
    with pytest.raises(eas.CompileError) as caught:
        check_page(code, files)
    text = str(caught.value).replace(str(Path(eas.__file__).parent.parent) + "/", "")
    septran_error_snapshot(f"page_{code}", f"{text}\n")
