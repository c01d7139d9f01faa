"""The code cache: hits, misses, and files that are not what they should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eas.ir.text import parse_function
from eas.llvm.pipeline import CPU
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.cpu import jit
from eas.runtime.cpu.build import SUFFIX
from eas.runtime.cpu.launch import Executable
from eas.support.cache import FOLDER, Cache, open_cache
from tests.processes import PATIENCE

TEXT = """\
kernel double(%x.0: *f32) from "double.py" {
  %1: i32[8] = arange start=0 size=8 @1:0-1
  %2: f32[8] = load %x.0[%1] @1:0-1
  %3: f32[8] = add %2, %2 @1:0-1
  store %x.0[%1] = %3 @1:0-1
  yield @1:0-1
}
"""


SQUARE = TEXT.replace("add %2", "mul %2")


def result_of(text: str, code_cache: Cache) -> list[float]:
    """Builds a kernel with a cache and runs it on the numbers 0 to 7."""
    executable = Executable(parse_function(text), code_cache)
    x = np.arange(8, dtype=np.float32)
    executable.run([ArrayArgument(x)], (1,))
    return x.tolist()


def run(code_cache: Cache) -> None:
    assert result_of(TEXT, code_cache) == [0, 2, 4, 6, 8, 10, 12, 14]


def files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob(f"*{SUFFIX}"))


@pytest.fixture
def code_cache(tmp_path: Path) -> Cache:
    tmp_path.chmod(0o700)
    return open_cache(tmp_path, SUFFIX)


def test_code_is_compiled_once(code_cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    run(code_cache)

    def fail(text: str) -> bytes:
        raise AssertionError(f"compiled again:\n{text}")

    monkeypatch.setattr(jit, "object_code", fail)
    run(code_cache)


def test_passes_are_dumped_even_if_the_code_is_cached(
    code_cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(code_cache)
    monkeypatch.setenv("EAS_DUMP", str(tmp_path / "dump"))
    run(code_cache)
    dumped = sorted(path.stem.split("-", 1)[1] for path in (tmp_path / "dump").rglob("*.ir"))
    assert dumped == sorted(each.name for each in CPU.passes)


@pytest.mark.parametrize("content", [b"", b"not code", b"\x7fELF" + bytes(60)])
def test_a_damaged_file_is_replaced(code_cache: Cache, tmp_path: Path, content: bytes) -> None:
    run(code_cache)
    [path] = files(tmp_path)
    path.write_bytes(content)
    run(code_cache)
    [path] = files(tmp_path)
    assert path.read_bytes() != content


def test_a_file_that_was_cut_off_is_replaced(code_cache: Cache, tmp_path: Path) -> None:
    run(code_cache)
    [path] = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:200])
    run(code_cache)
    [path] = files(tmp_path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"not code", b"\x7fELF" + bytes(60)])
def test_a_foreign_file_under_a_right_name_is_not_trusted(
    code_cache: Cache, tmp_path: Path, content: bytes
) -> None:
    run(code_cache)
    [path] = files(tmp_path)
    code_cache.store(path.stem.removeprefix("eas-"), content)
    run(code_cache)


def test_the_code_of_another_kernel_is_not_trusted(code_cache: Cache, tmp_path: Path) -> None:
    run(code_cache)
    [double] = files(tmp_path)
    assert result_of(SQUARE, code_cache) == [0, 1, 4, 9, 16, 25, 36, 49]
    [square] = [path for path in files(tmp_path) if path != double]
    square.rename(double)
    run(code_cache)


def test_a_folder_that_was_swapped_is_not_read_by_a_running_process(
    code_cache: Cache, tmp_path: Path
) -> None:
    run(code_cache)
    [double] = files(tmp_path)
    key = double.stem.removeprefix("eas-")
    other = open_cache(tmp_path / "other", SUFFIX)
    assert result_of(SQUARE, other) == [0, 1, 4, 9, 16, 25, 36, 49]
    [square] = files(tmp_path / "other")
    foreign = other.read(square.stem.removeprefix("eas-"))
    assert foreign is not None
    other.store(key, foreign)
    (tmp_path / FOLDER).rename(tmp_path / "ours")
    (tmp_path / "other" / FOLDER).rename(tmp_path / FOLDER)
    (tmp_path / FOLDER).chmod(0o777)
    run(code_cache)


def test_a_kernel_that_moved_in_its_file_is_not_compiled_again(
    code_cache: Cache, tmp_path: Path
) -> None:
    run(code_cache)
    result_of(TEXT.replace("@1:", "@9:"), code_cache)
    assert len(files(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    run(Cache(tmp_path / "missing", SUFFIX))
    run(Cache(None, SUFFIX))


_PROGRAM = """
import sys
import numpy as np
from eas.ir.text import parse_function
from eas.runtime.cpu.launch import Executable
from eas.runtime.argument_values import ArrayArgument

x = np.arange(8, dtype=np.float32)
Executable(parse_function(sys.argv[1])).run([ArrayArgument(x)], (1,))
assert (x == 2 * np.arange(8)).all()
"""


def test_processes_fill_the_cache_at_the_same_time(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    environment = {**os.environ, "EAS_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", _PROGRAM, TEXT]
    running = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait(timeout=PATIENCE) for process in running] == [0] * 4
    assert len(files(folder)) == 2  # the kernel, and what all kernels share


_USES_NO_LLVM = """
import sys
import numpy as np
import eas
from tests.kernels.add import add

a = np.ones(64, np.float32)
c = np.zeros(64, np.float32)
add(a, a, c, 64, BLOCK=64, _backend="cpu")
assert (c == 2).all()
print("eas.runtime.cpu.llvm" in sys.modules)
"""


@pytest.mark.skipif(
    (sys.platform, os.uname().machine) != ("linux", "x86_64"), reason="LLVM links elsewhere"
)
def test_cached_code_runs_without_llvm(tmp_path: Path) -> None:
    environment = {**os.environ, "EAS_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", _USES_NO_LLVM]
    said = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    assert said == ["True\n", "False\n"]


ASSERTS = """\
kernel check(%x.0: *bool) from "check.py" {
  %1: i32 = 0 @1:0-1
  %2: i32 = 1 @1:0-1
  %3: bool = load %x.0[%1] @1:0-1
  %4: bool = load %x.0[%2] @1:0-1
  assert %3, "it holds" @5:0-1
  assert %4, "it holds" @6:0-1
  yield @1:0-1
}
"""
IN_A_LOOP = ASSERTS.replace("@6:", "@5:")


@pytest.mark.parametrize("texts", [(ASSERTS, IN_A_LOOP), (IN_A_LOOP, ASSERTS)])
def test_cached_code_reports_the_line_of_the_kernel_that_runs_it(
    texts: tuple[str, str], tmp_path: Path
) -> None:
    code_cache = open_cache(tmp_path, SUFFIX)
    for text in texts:
        executable = Executable(parse_function(text), code_cache)
        [found] = executable.run([ArrayArgument(np.array([True, False]))], (1,))
        assert found.loc.line == (5 if text is IN_A_LOOP else 6)
