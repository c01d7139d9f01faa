"""The examples in the docstrings of tensors print what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import eas

FOLDER = Path(__file__).parent.parent.parent / "runtime" / "tensors"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_examples_print_what_they_show(name: str) -> None:
    module = import_module(f"eas.runtime.tensors.{name}")
    failed, _ = doctest.testmod(module, extraglobs={"eas": eas, "np": np}, report=True)
    assert failed == 0


def test_there_are_examples() -> None:
    modules = [import_module(f"eas.runtime.tensors.{name}") for name in NAMES]
    found = [test for module in modules for test in doctest.DocTestFinder().find(module)]
    assert sum(bool(test.examples) for test in found) >= 10
