"""The two states that are compared: folders, or commits, which are written to folders."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from eas.support.command_line import UsageError
from eas.support.escapes import escape
from eas.support.records import frozen

_LARGEST = 16 << 20  # bytes of a file; larger ones are no sources


@frozen(eq=False)
class Tree:
    """Files below a folder. `name` is what the user wrote, `title` the subject of a commit."""

    name: str
    folder: Path
    title: str = ""
    commit: str = ""

    @property
    def label(self) -> str:
        """A commit has its number behind the name."""
        short, name = self.commit[:9], escape(self.name)
        return f"{name} ({short})" if short and short != name[:9] else name


def open_tree(name: str, scratch: Path) -> Tree:
    """A commit of the repository around, or a folder; `./name` is always a folder."""
    commit = _commit(name)
    if commit is not None:
        return _read_commit(name, commit, scratch)
    if os.path.isdir(name):
        return Tree(name, Path(name).resolve(), "folder")
    if os.path.exists(name):
        raise UsageError(f"{name} is a file; `eas review` compares two commits or two folders")
    raise UsageError(_unknown(name))


def _commit(name: str) -> str | None:
    if not name or name.startswith("-") or "\0" in name:
        return None
    done = _git("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
    return done.stdout.decode().strip() if done and not done.returncode else None


def _unknown(name: str) -> str:
    inside = _git("rev-parse", "--is-shallow-repository")
    if inside is None:
        return f"there is no folder {name}, and commits cannot be read: git is not installed"
    if inside.returncode:
        return f"there is no folder {name}, and this is no git repository"
    message = f"there is no commit and no folder {name}"
    if inside.stdout.strip() == b"true":
        message += "; this clone is shallow: `git fetch --unshallow` brings all commits"
    return message


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    if shutil.which("git") is None:
        return None
    return subprocess.run(_command(*arguments), capture_output=True, check=False)


def _command(*arguments: str) -> list[str]:
    return ["git", "--no-pager", "--no-optional-locks", *arguments]


def _read_commit(name: str, commit: str, scratch: Path) -> Tree:
    """Writes the files of a commit to a folder of ours; the user's files stay as they are."""
    folder = scratch / commit
    if not folder.exists():
        folder.mkdir(parents=True)
        _write_files(commit, folder)
    subject = _checked("log", "-1", "--format=%s", commit).decode(errors="replace").strip()
    return Tree(name, folder, subject, commit)


def _write_files(commit: str, folder: Path) -> None:
    files = list(_files(commit))
    with subprocess.Popen(
        _command("cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        for number, path in files:
            git.stdin.write(number.encode() + b"\n")
            git.stdin.flush()
            head = git.stdout.readline().split()
            if len(head) != 3:
                raise UsageError(f"git cannot read {path} of {commit[:9]}")
            content = git.stdout.read(int(head[2]) + 1)[:-1]
            _write(folder.joinpath(*path.parts), content)


def _files(commit: str) -> Iterator[tuple[str, PurePosixPath]]:
    """The ordinary files of a commit: no links, no submodules, nothing outside of its folder."""
    listed = _checked("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    for entry in filter(None, listed.split(b"\0")):
        fields, _, name = entry.partition(b"\t")
        mode, _, number, size = fields.split()
        path = PurePosixPath(os.fsdecode(name))
        is_inside = not path.is_absolute() and ".." not in path.parts
        is_file = mode in (b"100644", b"100755") and int(size) <= _LARGEST
        if is_file and is_inside:
            yield number.decode(), path


def _checked(*arguments: str) -> bytes:
    done = _git(*arguments)
    if done is None or done.returncode:
        reason = done.stderr.decode(errors="replace").strip() if done else "it is not installed"
        raise UsageError(f"git {arguments[0]} fails: {reason}")
    return done.stdout


def _write(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except (OSError, ValueError) as error:  # a name that this system does not have
        raise UsageError(f"{file.name} of the commit cannot be written here: {error}") from error
