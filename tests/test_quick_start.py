"""The quick start, every backend, and code that users know, as they wrote it.

It needs no pytest: `python -m unittest discover -s tests -p "test*.py"` runs it, too.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import eas
from eas.config import available
from tests.run_blocks import BLOCKS, run_blocks, simulated_mac
from tests.thorough import thorough

REPOSITORY = Path(__file__).parent.parent


class QuickStart(unittest.TestCase):
    def test_the_quick_start_adds_arrays_and_prints_metal(self) -> None:
        found = run_blocks("add")
        np.testing.assert_array_equal(found["c"], found["a"] + found["b"])
        self.assertIn("kernel void add_kernel(", found["printed"])

    def test_every_backend_gives_the_same(self) -> None:
        found = run_blocks("add")
        for backend in available():
            with self.subTest(backend):
                c = np.zeros_like(found["a"])
                found["add_kernel"](
                    found["a"], found["b"], c, found["n"], BLOCK=256, _backend=backend
                )
                np.testing.assert_array_equal(c, found["c"])

    def test_tensors_stay_on_the_device(self) -> None:
        with simulated_mac() as machine, eas.use_backend("mps"):
            found = run_blocks("add", "device_tensors")
            np.testing.assert_array_equal(found["out"], found["a"].numpy() + found["b"].numpy())
            self.assertEqual(found["c"].device, "metal")
            self.assertEqual(machine.troubles, [])


def run_with_torch(*names: str) -> str:
    """Runs blocks in a process of their own, and gives what they print."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.run_blocks", *names],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named 'torch'" in made.stderr:
        raise unittest.SkipTest("torch is not installed")
    if made.returncode:
        raise AssertionError(made.stderr)
    return made.stdout


class WithTorch(unittest.TestCase):
    def test_tensors_go_to_eas_and_back(self) -> None:
        run_with_torch("torch_to_eas", "eas_to_torch")

    def test_tensors_go_through_dlpack(self) -> None:
        run_with_torch("dlpack")

    def test_torch_is_probed(self) -> None:
        printed = run_with_torch("probe_torch")
        self.assertIn("mps available: True", printed)
        self.assertIn("torch dlpack to_dlpack(mps) ok: PyCapsule", printed)


class Commands(unittest.TestCase):
    """The commands that the documentation of users names; each runs here or in the test named."""

    def run_module(self, *arguments: str, **environment: str) -> str:
        made: Any = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return made.stdout

    def test_the_example_runs(self) -> None:
        self.assertIn("as NumPy does", self.run_module("examples.add"))

    def test_the_example_runs_on_the_gpu(self) -> None:
        out = io.StringIO()
        is_mps = patch.dict(os.environ, {"EAS_BACKEND": "mps"})
        with simulated_mac() as machine, is_mps, contextlib.redirect_stdout(out):
            importlib.import_module("examples.add").main()
            self.assertEqual(machine.troubles, [])
        self.assertIn("as NumPy does", out.getvalue())

    @thorough
    @unittest.skipIf("EAS_DISCOVERED" in os.environ, "it is running")
    def test_unittest_discovers_this_file(self) -> None:
        made = subprocess.run(
            [
                sys.executable,
                *["-m", "unittest", "discover", "-s", "tests", "-p", "test*.py", "-v"],
            ],
            cwd=REPOSITORY,
            env={**os.environ, "EAS_DISCOVERED": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(made.returncode, 0, made.stderr)
        for case in (QuickStart, WithTorch):
            self.assertIn(f"(test_quick_start.{case.__name__}.", made.stderr)

    def test_every_block_is_run(self) -> None:
        source = Path(__file__).read_text("utf-8")
        for path in BLOCKS.glob("*.py"):
            self.assertIn(f'"{path.stem}"', source)


if __name__ == "__main__":
    unittest.main()
