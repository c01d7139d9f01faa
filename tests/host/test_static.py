"""Texts that Metal refuses are refused; what it takes is taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.msl.host import ORDERS, Host
from eas.msl.host.inspect import inspect
from tests.host.handwritten import EXAMPLES, FOLDER, text_of
from tests.host.texts import run_text
from tests.test_kernels import case_of, every_kernel

SNIPPETS = sorted((Path(__file__).parent / "snippets").glob("*.metal"))


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_broken_text_is_refused(path: Path, host: Host) -> None:
    text, _, said = path.read_text("utf-8").rpartition("\n// ")
    assert [str(c) for c in inspect(text + "\n", host.builder)][:1] == [said.strip()]


def test_there_are_many_broken_texts() -> None:
    assert len(SNIPPETS) >= 60


@every_kernel
def test_a_kernel_of_the_corpus_is_metal(name: str, host: Host) -> None:
    case = case_of(name)
    assert inspect(case.kernel.to_msl(**case.arguments()), host.builder) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_text_written_by_hand_is_metal(name: str, host: Host) -> None:
    assert inspect(text_of(name), host.builder) == []


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_text_written_by_hand_gives_the_results_of_numpy(
    name: str, order: str, host: Host
) -> None:
    example = EXAMPLES[name]
    buffers = example.buffers()
    expected = example.expected(*example.buffers())
    run_text(
        host,
        text_of(name),
        *buffers,
        groups=example.groups,
        threads=example.threads,
        shared=example.shared,
        order=order,
    )
    for index, right in expected.items():
        result = buffers[index]
        if example.tolerance:
            atol = example.tolerance * float(np.abs(right).max())
            np.testing.assert_allclose(result, right, rtol=0, atol=atol)
        else:
            np.testing.assert_array_equal(result, right)


def test_every_text_written_by_hand_is_used() -> None:
    assert {path.stem for path in FOLDER.glob("*.metal")} == set(EXAMPLES)
