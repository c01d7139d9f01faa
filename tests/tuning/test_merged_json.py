"""A JSON file that many processes add entries to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eas.tuning.merged_json import TuningFileWarning, add_entries, read_entries
from tests.processes import PATIENCE


def test_entries_are_read_as_they_were_added(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "tuning.json"
    assert add_entries(path, {"a": {"number": 1}})
    assert add_entries(path, {"b": {"number": 2}})
    assert read_entries(path) == {"a": {"number": 1}, "b": {"number": 2}}


def test_a_later_entry_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    add_entries(path, {"a": {"number": 1}})
    add_entries(path, {"a": {"number": 2}})
    assert read_entries(path) == {"a": {"number": 2}}


def test_the_same_entries_are_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    add_entries(one, {"a": {"x": 1, "y": 2}})
    add_entries(one, {"b": {}})
    add_entries(other, {"b": {}})
    add_entries(other, {"a": {"y": 2, "x": 1}})
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    "text", ["{", "[" * 50_000, "[]", '{"format": 99, "entries": {}}', '{"format": 1}', "\0"]
)
def test_a_broken_file_is_not_used_and_not_lost(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tuning.json"
    path.write_text(text)
    with pytest.warns(TuningFileWarning, match="is not used"):
        assert read_entries(path) == {}
    with pytest.warns(TuningFileWarning, match="tuning.json.broken"):
        add_entries(path, {"a": {}})
    assert (tmp_path / "tuning.json.broken").read_text() == text
    assert read_entries(path) == {"a": {}}


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(TuningFileWarning, match="cannot be written"):
        assert not add_entries(tmp_path / "file" / "tuning.json", {"a": {}})


def test_what_was_broken_before_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    for text in ("one", "two", "three"):
        path.write_text(text)
        with pytest.warns(TuningFileWarning, match="was no tuning file"):
            add_entries(path, {"a": {}})
    found = sorted(each.read_text() for each in tmp_path.glob("tuning.json.broken*"))
    assert found == ["one", "three", "two"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes in folders")
def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.warns(TuningFileWarning, match="is not used: it is no file"):
            assert read_entries(path) == {}
        with pytest.warns(TuningFileWarning, match="cannot be written, .*: it is no file"):
            assert not add_entries(path, {"a": {}})
    assert (tmp_path / "pipe").is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_link_to_a_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("tuning.json")
    add_entries(tmp_path / "link", {"a": {}})
    assert (tmp_path / "link").is_symlink()
    assert read_entries(tmp_path / "tuning.json") == {"a": {}}


def start(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.tuning.adding", str(path), name, str(count)]
    return subprocess.Popen(command)


def test_eight_processes_lose_no_entries(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    workers = [start(path, str(n), 10) for n in range(8)]
    assert [worker.wait(PATIENCE) for worker in workers] == [0] * 8
    assert len(read_entries(path)) == 80


def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    add_entries(path, {"first": {}})
    for number in range(5):
        with start(path, str(number), 1_000_000) as worker:
            while f"{number}.0" not in read_entries(path):
                assert worker.poll() is None
            time.sleep(0.003 * number)
            worker.kill()
        assert {"first", f"{number}.0"} <= json.loads(path.read_text())["entries"].keys()
    assert add_entries(path, {"last": {}})
