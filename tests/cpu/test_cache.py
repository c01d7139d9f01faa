"""Machine code on disk: kept, found again, and made anew where it is not what it should be."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eas.ir.cache import Cache, open_cache
from eas.ir.text import parse_function
from eas.runtime.cpu import jit
from eas.runtime.cpu.build import SUFFIX
from eas.runtime.cpu.launch import Executable
from eas.runtime.interpreter import ArrayArgument

TEXT = """\
kernel double(%x.0: *f32) from "double.py" {
  %1: i32[8] = arange start=0 size=8 @1:0-1
  %2: f32[8] = load %x.0[%1] @1:0-1
  %3: f32[8] = add %2, %2 @1:0-1
  store %x.0[%1] = %3 @1:0-1
  yield @1:0-1
}
"""


def run(kept: Cache) -> None:
    """Builds the kernel with a cache and runs it."""
    executable = Executable(parse_function(TEXT), kept)
    x = np.arange(8, dtype=np.float32)
    executable.run([ArrayArgument(x)], (1,))
    np.testing.assert_array_equal(x, 2 * np.arange(8, dtype=np.float32))


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


@pytest.fixture
def kept(tmp_path: Path) -> Cache:
    tmp_path.chmod(0o700)
    return open_cache(tmp_path, SUFFIX)


def test_code_is_compiled_once(kept: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    run(kept)

    def fail(text: str) -> bytes:
        raise AssertionError(f"compiled again:\n{text}")

    monkeypatch.setattr(jit, "object_code", fail)
    run(kept)


@pytest.mark.parametrize("content", [b"", b"not code", b"\x7fELF" + bytes(60)])
def test_a_damaged_file_is_replaced(kept: Cache, tmp_path: Path, content: bytes) -> None:
    run(kept)
    [path] = files(tmp_path)
    path.write_bytes(content)
    run(kept)
    [path] = files(tmp_path)
    assert path.read_bytes() != content


def test_a_file_that_was_cut_off_is_replaced(kept: Cache, tmp_path: Path) -> None:
    run(kept)
    [path] = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:200])
    run(kept)
    [path] = files(tmp_path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"not code", b"\x7fELF" + bytes(60)])
def test_a_foreign_file_under_a_right_name_is_not_trusted(
    kept: Cache, tmp_path: Path, content: bytes
) -> None:
    run(kept)
    [path] = files(tmp_path)
    key = path.name.split("-")[0]
    path.unlink()
    name = f"{key}-{hashlib.sha256(content).hexdigest()[:32]}{SUFFIX}"
    (tmp_path / name).write_bytes(content)
    run(kept)


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    run(Cache(tmp_path / "missing", SUFFIX))
    run(Cache(None, SUFFIX))


_PROGRAM = """
import sys
import numpy as np
from eas.ir.text import parse_function
from eas.runtime.cpu.launch import Executable
from eas.runtime.interpreter import ArrayArgument

x = np.arange(8, dtype=np.float32)
Executable(parse_function(sys.argv[1])).run([ArrayArgument(x)], (1,))
assert (x == 2 * np.arange(8)).all()
"""


def test_processes_fill_the_cache_at_the_same_time(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    environment = {**os.environ, "EAS_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", _PROGRAM, TEXT]
    running = [subprocess.Popen(command, env=environment) for _ in range(8)]
    assert [process.wait(timeout=120) for process in running] == [0] * 8
    assert len(files(folder)) == 2  # the kernel, and what all kernels share
