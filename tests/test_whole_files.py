"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from eas.support.whole_files import check_writable, write_whole
from tests.processes import wait_until


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "real"]


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o600)
    write_whole(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o600)


@pytest.mark.parametrize("letter", ["x", "𝒳"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path, letter: str) -> None:
    file = tmp_path / (letter * (255 // len(letter.encode())))
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"


def _is_written(pipe: Path) -> bool:
    with suppress(OSError):  # it is not read yet
        write_whole(pipe, b"text")
        return True
    return False


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes in folders")
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device"):
        write_whole(pipe, b"nobody reads it")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    check_writable(pipe)
    wait_until(lambda: _is_written(pipe))
    reader.join()
    assert found == [b"text"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="open files have no paths")
def test_a_pipe_without_a_path_of_its_own_is_written_to() -> None:
    """As `/dev/stdout` is in a shell's pipe."""
    source, target = os.pipe()
    with open(source, "rb") as reader:
        with open(target, "wb"):
            check_writable(f"/dev/fd/{target}")
            write_whole(f"/dev/fd/{target}", b"text")
        assert reader.read() == b"text"


def test_what_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: object) -> None:
        raise OSError("no")

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        write_whole(tmp_path / "file", b"new")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_a_check_changes_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / ("x" * 250))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "missing" / "file")
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)


def test_threads_write_files_whose_names_begin_alike(tmp_path: Path) -> None:
    """Each file has what was written to it, and no thread loses its file to another one."""
    start, failed = threading.Barrier(2), list[Exception]()

    def write(number: int) -> None:
        start.wait()
        for _ in range(40):
            try:
                write_whole(tmp_path / f"{'x' * 60}{number}", b"%d" % number * 5000)
            except OSError as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted({each.read_bytes()[:1] for each in tmp_path.iterdir()}) == [b"0", b"1"]
