"""Git repositories for tests, with commits of given files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.review.texts import metal

_IDENTITY = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip

CHEAP = metal("y[t] = x[t];")
DEAR = metal("y[t] = x[t] + x[t + 1];")


class Repository:
    """A repository in a folder: `commit` makes the files what they are in the next commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | _IDENTITY,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "change") -> str:
        """Writes files, or deletes them, and gives the number of the commit."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


def kernel_file(body: str, name: str = "relu") -> str:
    """A Python file with a kernel that tools can compile."""
    return f"""import eas
from eas import mk

@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def {name}(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, mask=i < N)
    mk.store(y, i, {body}, mask=i < N)
"""
