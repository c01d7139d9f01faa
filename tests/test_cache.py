"""Compiled kernels on disk: where they are kept, for how long, and whose files are trusted."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from eas.support import cache as caches
from eas.support import folders
from eas.support.cache import FOLDER, LIMIT, Cache, default_folder, digest, open_cache

KEY = digest("key")
IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0
NOBODY = 65534


@pytest.fixture
def kept(tmp_path: Path) -> Cache:
    """A cache that holds `content` under `KEY`."""
    cache = open_cache(tmp_path)
    cache.store(KEY, b"content")
    assert cache.read(KEY) == b"content"
    return cache


def place_of(cache: Cache, key: str = KEY) -> Path:
    assert cache.folder is not None
    return cache.folder / FOLDER / cache.name(key)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("EAS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_folder_is_below_the_home(home: Path) -> None:
    assert default_folder() == home / ".cache" / "easy_as"


def test_the_folder_follows_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/easy_as")
    monkeypatch.setenv("EAS_CACHE_DIR", "/elsewhere")
    assert default_folder() == Path("/elsewhere")


@pytest.mark.parametrize("name", ["relative", "./here", "", "~/cache"])
def test_a_relative_xdg_cache_home_is_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", name)
    assert default_folder() == home / ".cache" / "easy_as"


@pytest.mark.parametrize("name", ["", "relative"])
def test_a_home_that_is_no_place_holds_no_cache(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", name)
    assert open_cache() == Cache(None)


def test_a_relative_folder_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EAS_CACHE_DIR", "relative")
    assert open_cache() == Cache(tmp_path / "relative")


def test_a_folder_relative_to_one_that_was_removed_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setenv("EAS_CACHE_DIR", "relative")
    (tmp_path / "gone").rmdir()
    assert open_cache() == Cache(None)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder but those of a cache."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path): path.read_bytes() for path in files if FOLDER not in path.parts}


def test_files_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2100):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(b"mine")
        os.utime(path, (number, number))
    (tmp_path / f"eas-{KEY}.so").write_bytes(b"mine")
    before = contents(tmp_path)
    monkeypatch.setattr(caches, "LIMIT", 1000)
    fill(open_cache(tmp_path), 20)
    assert contents(tmp_path) == before


def test_foreign_names_in_the_folder_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["notes.txt", f"{KEY}.so", f"eas-{KEY}", f"eas-{KEY}.so.bak", f"xeas-{KEY}.so"]
    names += ["eas-short.so", f"eas-{KEY}.so.tmp", f"eas-{KEY.upper()}.so", f"eas-{KEY}.so\n"]
    monkeypatch.setattr(caches, "LIMIT", 1000)
    cache = open_cache(tmp_path)
    fill(cache, 1)
    for name in names:
        path = tmp_path / FOLDER / name
        path.write_bytes(b"x" * 1000)
        os.utime(path, (1, 1))
    fill(cache, 20)
    assert {name for name in names if not (tmp_path / FOLDER / name).exists()} == set()


def test_links_and_folders_under_our_names_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "LIMIT", 1000)
    cache = open_cache(tmp_path / "cache")
    fill(cache, 1)
    target = tmp_path / "mine"
    target.write_bytes(b"mine")
    link, folder = (place_of(cache, digest(name)) for name in ("link", "folder"))
    link.symlink_to(target)
    folder.mkdir()
    fill(cache, 20)
    assert link.is_symlink()
    assert folder.is_dir()
    assert target.read_bytes() == b"mine"


def fill(cache: Cache, count: int) -> list[str]:
    """Keeps files of 100 bytes, each a second older than the next, and gives their keys."""
    keys = [digest(str(number)) for number in range(count)]
    for number, key in enumerate(keys):
        cache.store(key, bytes(100 - 32))
        os.utime(place_of(cache, key), (number, number))
    return keys


def test_the_files_that_were_made_first_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "LIMIT", 1000)
    cache = open_cache(tmp_path)
    keys = fill(cache, 10)
    cache.store(KEY, bytes(100 - 32))
    left = {path.name for path in (tmp_path / FOLDER).iterdir()}
    assert left == {cache.name(key) for key in (*keys[4:], KEY)}  # three quarters of the limit


def test_files_of_all_suffixes_and_of_killed_processes_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "LIMIT", 1000)
    cache = open_cache(tmp_path)
    fill(cache, 1)
    for name in (f"eas-{digest('a')}.o", f"eas-{digest('b')}.so.12.34.tmp"):
        path = tmp_path / FOLDER / name
        path.write_bytes(bytes(800))
        os.utime(path, (0, 0))
    cache.store(KEY, bytes(68))
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [cache.name(KEY)]


def test_a_file_that_would_need_much_of_the_limit_is_not_kept(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    cache.store(KEY, bytes(LIMIT // 4 + 1))
    assert cache.read(KEY) is None


def test_only_the_user_can_enter_what_is_made(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = open_cache(tmp_path / "some" / "where")
        cache.store(KEY, b"content")
    finally:
        os.umask(before)
    made = [tmp_path / "some" / "where", tmp_path / "some" / "where" / FOLDER]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700]
    assert stat.S_IMODE(place_of(cache).stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o1777])
@pytest.mark.parametrize("inner", [".", FOLDER])
def test_a_folder_that_others_can_write_to_is_not_used(
    kept: Cache, tmp_path: Path, inner: str, mode: int
) -> None:
    (tmp_path / inner).chmod(mode)
    assert kept.read(KEY) is None
    kept.store(digest("another"), b"content")
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [kept.name(KEY)]
    (tmp_path / inner).chmod(0o700)
    assert kept.read(KEY) == b"content"


def test_nothing_is_made_in_a_folder_that_others_can_write_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    open_cache(tmp_path).store(KEY, b"content")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_others_can_write_to_is_not_read(kept: Cache) -> None:
    place_of(kept).chmod(0o622)
    assert kept.read(KEY) is None


@pytest.mark.skipif(not IS_ROOT, reason="only root can be someone else")
@pytest.mark.parametrize("which", [".", FOLDER, "file"])
def test_what_someone_else_owns_is_not_read(kept: Cache, tmp_path: Path, which: str) -> None:
    path = place_of(kept) if which == "file" else tmp_path / which
    os.chown(path, NOBODY, NOBODY)
    assert kept.read(KEY) is None
    os.chown(path, 0, 0)
    assert kept.read(KEY) == b"content"


def test_a_link_in_place_of_the_folder_is_not_followed(kept: Cache, tmp_path: Path) -> None:
    (tmp_path / FOLDER).rename(tmp_path / "other")
    (tmp_path / FOLDER).symlink_to(tmp_path / "other")
    assert kept.read(KEY) is None


def test_the_path_to_the_folder_may_lead_through_links(kept: Cache, tmp_path: Path) -> None:
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)
    assert open_cache(link).read(KEY) == b"content"
    link.unlink()


def test_a_link_in_place_of_a_file_is_not_followed(kept: Cache, tmp_path: Path) -> None:
    place_of(kept).rename(tmp_path / "elsewhere")
    place_of(kept).symlink_to(tmp_path / "elsewhere")
    assert kept.read(KEY) is None
    kept.store(KEY, b"other")
    assert not place_of(kept).is_symlink()
    assert kept.read(KEY) == b"other"


def test_a_folder_swapped_after_it_was_entered_is_not_used(kept: Cache, tmp_path: Path) -> None:
    with folders.enter(str(tmp_path), FOLDER, is_made=False) as folder:
        (tmp_path / FOLDER).rename(tmp_path / "ours")
        (tmp_path / FOLDER).mkdir(mode=0o700)
        place_of(kept).write_bytes(b"foreign")
        assert folder.read(kept.name(KEY), LIMIT).startswith(b"content")
        folder.write("another", b"ours")
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [kept.name(KEY)]


def test_a_pipe_in_place_of_a_file_is_not_waited_for(kept: Cache) -> None:
    place_of(kept).unlink()
    os.mkfifo(place_of(kept), 0o600)
    assert kept.read(KEY) is None


def test_a_file_above_the_limit_is_not_read(kept: Cache) -> None:
    os.truncate(place_of(kept), 1 << 40)
    assert kept.read(KEY) is None


@pytest.mark.parametrize("size", [0, 1, 31, 32, 38])
def test_a_file_that_was_cut_off_is_not_read(kept: Cache, size: int) -> None:
    os.truncate(place_of(kept), size)
    assert kept.read(KEY) is None


def test_a_file_with_a_bit_changed_is_not_read(kept: Cache) -> None:
    whole = place_of(kept).read_bytes()
    for at in range(len(whole)):
        place_of(kept).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert kept.read(KEY) is None


def test_the_file_of_another_key_is_not_read(kept: Cache) -> None:
    place_of(kept).rename(place_of(kept, digest("another")))
    assert kept.read(digest("another")) is None


def test_a_folder_that_vanishes_is_created_again(kept: Cache, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / FOLDER)
    assert kept.read(KEY) is None
    kept.store(KEY, b"again")
    assert kept.read(KEY) == b"again"


def test_a_write_that_fails_leaves_no_file(
    kept: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_names: object, **_folders: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    kept.store(digest("another"), b"content")
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [kept.name(KEY)]


def test_no_descriptor_stays_open(kept: Cache, tmp_path: Path) -> None:
    before = next_descriptor()
    for mode in (0o700, 0o777):
        (tmp_path / FOLDER).chmod(mode)
        kept.read(KEY)
        kept.read(digest("missing"))
        kept.store(KEY, b"content")
    assert next_descriptor() == before


def next_descriptor() -> int:
    opened = os.open(os.devnull, os.O_RDONLY)
    os.close(opened)
    return opened


def test_a_platform_without_descriptors_of_folders_goes_by_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "HAS_DESCRIPTORS", False)
    monkeypatch.delattr(os, "geteuid")
    cache = open_cache(tmp_path)
    monkeypatch.setattr(caches, "LIMIT", 1000)
    keys = fill(cache, 12)
    assert cache.read(keys[-1]) == bytes(100 - 32)
    assert cache.read(keys[0]) is None
