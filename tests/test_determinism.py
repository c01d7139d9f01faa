"""A compile is a pure function: the same bytes in every process, on every path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import eas

KERNELS = Path(__file__).parent / "kernels"
ROOT = KERNELS.parent.parent
# kernels with names, helpers, reductions, threads and constants of many kinds
CHOSEN = ("histogram", "matmul", "nbody", "nested_functions", "ray_sphere", "softmax")

SCRIPT = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    case = import_module(f"kernels.{name}").CASE
    print(case.kernel.to_ir(**case.arguments()))
    print(case.kernel.to_msl(**case.arguments()))
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """What two processes print that differ in path, folder and hash seed."""
    found: list[bytes] = []
    for seed, depth in (("1", "a"), ("271828", "b/longer path/c")):
        folder = tmp_path_factory.mktemp("copy") / depth / "tests"
        shutil.copytree(KERNELS, folder / "kernels")
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(folder), str(folder.parent), str(ROOT)]),
        }
        command = [sys.executable, "-c", SCRIPT, *CHOSEN]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True)
        found.append(done.stdout)
    return found


def test_two_processes_on_two_paths_give_the_same_bytes(texts: list[bytes]) -> None:
    first, second = texts
    assert len(first) > 10_000
    assert first == second


def test_a_string_constant_stays_on_the_line_of_the_comment() -> None:
    @eas.kernel
    def labelled(out, TEXT: eas.constexpr):
        out[0] = len(TEXT)

    first = labelled.to_msl("*i32[:]", TEXT="x\n}\n").splitlines()[0]
    assert (
        first == "// labelled(out: *i32) with TEXT='x\\n}\\n' · 32 threads per program · Metal 2.3"
    )
