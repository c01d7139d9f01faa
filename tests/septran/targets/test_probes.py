"""Probes: a package that cannot be imported is a reason, not an end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.septran.targets.probes import probe


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that the probe's Python imports from first."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    probe.cache_clear()
    yield tmp_path
    probe.cache_clear()


def test_a_package_that_imports_has_a_version(packages: Path) -> None:
    (packages / "tvm.py").write_text("print('noise')\n__version__ = '0.27.0'\n")
    assert probe("tvm").version == "0.27.0"


def test_a_package_that_raises_has_a_reason(packages: Path) -> None:
    (packages / "tvm.py").write_text("raise ImportError('no ffi')\n")
    found = probe("tvm")
    assert (found.is_there, found.reason) == (False, "ImportError: no ffi")


def test_a_package_that_ends_the_process_has_a_reason(packages: Path) -> None:
    (packages / "tilelang.py").write_text("import os\nos.abort()\n")
    found = probe("tilelang")
    assert (found.is_there, found.reason) == (False, "it ended with -6")
    assert "tilelang" not in sys.modules


def test_a_python_that_is_not_there_is_a_reason(packages: Path) -> None:
    assert not probe("tvm", str(packages / "python")).is_there
