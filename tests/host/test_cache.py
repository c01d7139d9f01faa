"""Compiled kernels on disk: found again, compiled again when broken, done without when need be."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from eas.msl.host import Builder, Host, HostError, Limits, MslError
from eas.support.cache import FOLDER, Cache, open_cache
from tests.host.texts import HEAD, run_text
from tests.processes import PATIENCE
from tests.thorough import sampled

TEXT = HEAD + "kernel void seven(device int* x [[buffer(0)]]) { x[0] = 7; }\n"


def seven(cache: Cache) -> int:
    host = Host(Builder(cache), Limits(PATIENCE))
    x = np.zeros(1, np.int32)
    try:
        run_text(host, TEXT, x)
    finally:
        host.stop()
    return int(x[0])


def files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / FOLDER).iterdir()}


def test_a_kernel_is_compiled_once(tmp_path: Path) -> None:
    cache = open_cache(tmp_path / "cache")
    assert seven(cache) == 7
    before = files(tmp_path / "cache")
    assert seven(open_cache(tmp_path / "cache")) == 7
    assert files(tmp_path / "cache") == before
    assert len(before) == 3  # the kernel, the runtime and Metal's library


@sampled(3)
@pytest.mark.parametrize("content", [b"x" * 20000, b"", b"\x7fELF"])
def test_a_broken_file_is_created_again(tmp_path: Path, content: bytes) -> None:
    cache = open_cache(tmp_path)
    assert seven(cache) == 7
    names = set(files(tmp_path))
    for name in names:
        (tmp_path / FOLDER / name).write_bytes(content)
    assert seven(cache) == 7
    assert set(files(tmp_path)) == names
    assert all((tmp_path / FOLDER / name).read_bytes() != content for name in names)


def test_a_file_that_vanishes_is_created_again(tmp_path: Path) -> None:
    builder = Builder(open_cache(tmp_path))
    first = builder.build([TEXT]).path
    first.unlink()
    assert builder.build([TEXT]).path.exists()


def test_a_home_that_cannot_be_written_does_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EAS_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert seven(open_cache()) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="needs a disk that is always full")
def test_a_disk_too_full_to_compile_on_is_reported() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        message = pool.apply(_seven_on_a_full_disk)
    assert message.startswith("kernel `seven`: there is no place to compile to: `")


def _seven_on_a_full_disk() -> str:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    try:
        return str(seven(Cache(None)))
    except HostError as error:
        return str(error)


def test_no_place_to_compile_to_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(HostError, match=r"^kernel `seven`: there is no place to compile to: "):
        Builder(Cache(None)).build([TEXT])


def test_two_processes_can_compile_the_same_kernel(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        results = pool.map(_seven_in, [tmp_path] * 4, chunksize=1)
    assert results == [7] * 4
    assert len(files(tmp_path)) == 3


def _seven_in(folder: Path) -> int:
    return seven(open_cache(folder))


def test_a_folder_that_was_swapped_does_not_reach_a_running_process(tmp_path: Path) -> None:
    builder = Builder(open_cache(tmp_path / "cache"))
    host = Host(builder)
    library, x = builder.build([TEXT]), np.zeros(1, np.int32)
    (tmp_path / "cache").rename(tmp_path / "ours")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    try:
        run_text(host, TEXT, x)
    finally:
        host.stop()
    assert x[0] == 7
    assert tmp_path not in library.path.parents
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_library_that_nothing_uses_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.msl.host.build.MOST_RECENT", 1)
    builder = Builder(open_cache())
    first = builder.build([TEXT]).path
    assert first.exists()
    second = builder.build([TEXT.replace("7", "8")])
    gc.collect()
    assert not first.exists()
    assert second.path.exists()


def test_a_library_in_use_keeps_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.msl.host.build.MOST_RECENT", 1)
    builder = Builder(open_cache())
    first = builder.build([TEXT])
    builder.build([TEXT.replace("7", "8")])
    assert first.path.exists()
    assert builder.build([TEXT]).file is first.file


def test_the_compiler_s_complaint_names_the_line(tmp_path: Path) -> None:
    text = HEAD + "kernel void odd(device int* x [[buffer(0)]]) {\n    x[0] = y;\n}\n"
    with pytest.raises(MslError) as caught:
        Builder(open_cache(tmp_path)).build([text])
    assert str(caught.value).splitlines()[:2] == [
        "kernel `odd`: clang refuses the Metal text",
        "kernel.metal:4:12: error: use of undeclared identifier 'y'",
    ]
