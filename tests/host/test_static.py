"""Texts that Metal refuses are refused; what it takes is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.msl.host import Host
from eas.msl.host.inspect import inspect
from tests.test_kernels import NAMES, case_of
from tests.thorough import sampled

SNIPPETS = sorted((Path(__file__).parent / "snippets").glob("*.metal"))


def stem_of(path: Path) -> str:
    return path.stem


@sampled(5)
@pytest.mark.parametrize("path", SNIPPETS, ids=stem_of)
def test_a_broken_text_is_refused(path: Path, host: Host) -> None:
    text, _, said = path.read_text("utf-8").rpartition("\n// ")
    assert [str(c) for c in inspect(text + "\n", host.builder)][:1] == [said.strip()]


def test_there_are_many_broken_texts() -> None:
    assert len(SNIPPETS) >= 60


@sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_of_the_corpus_is_metal(name: str, host: Host) -> None:
    case = case_of(name)
    text = case.kernel.to_msl(**case.arguments())
    assert inspect(text, host.builder, house_style=True) == []
