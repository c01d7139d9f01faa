"""The arguments of `eas review` and `eas init`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

_REVIEW = """\
OLD and NEW are commits of the repository around, or folders; `./name` is always a folder. Stored
Metal texts (`eas snapshot`, `metal_snapshot`) are taken as they are. Python files are compiled with
the easy_as that is installed, each in a process of its own, if they are given as PATH, if `paths`
in [tool.eas.check] of pyproject.toml names them, or if there are no stored texts. Nothing is
checked out.

examples:
  eas review main HEAD                            writes eas-review.html
  eas review HEAD . kernels                       what is not committed yet, in the folder kernels
  eas review v1.0 v2.0 --stored -o review.html    runs nothing of the two commits
  eas review old_snapshots new_snapshots          two folders
  eas review origin/main HEAD --markdown          a comment for a pull request
  eas review origin/main HEAD --fail-above 5

exit codes: 0, 1 if --fail-above finds something, 2 wrong usage
"""

_INIT = """\
Write a project with kernels, tests, a pre-commit hook and a CI file. Files that are there are never
changed: if one would be, nothing is written.

examples:
  eas init my_kernels
  eas init --source ../easy_as my_kernels
  eas init --source dist/easy_as-0.1.0-py3-none-any.whl my_kernels
  eas init --source git+https://example.com/easy_as.git my_kernels

exit codes: 0, 2 wrong usage or a file that is there already
"""


def add_review(commands: Commands) -> None:
    command = commands.add_parser(
        "review",
        help="what became more expensive between two commits, as a page",
        description="Compare the Metal texts of kernels and their cost; write a page to look at.",
        epilog=_REVIEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("old", metavar="OLD", help="a commit or a folder")
    command.add_argument("new", metavar="NEW", help="a commit or a folder")
    command.add_argument("paths", nargs="*", metavar="PATH", help="only files and folders below")
    command.add_argument(
        "-o", "--output", metavar="FILE", help="of the page (eas-review.html); `-` is stdout"
    )
    command.add_argument(
        "--markdown", action="store_true", help="print Markdown; the page is only written with -o"
    )
    command.add_argument(
        "--fail-above",
        type=percent,
        metavar="PERCENT",
        help="return 1 if a number grew by more than that, or a kernel no longer compiles",
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument("--stored", action="store_true", help="only stored texts: nothing is run")
    how.add_argument(
        "--compile", action="store_true", help="compile all Python files with kernels, too"
    )


def add_init(commands: Commands) -> None:
    command = commands.add_parser(
        "init",
        help="write a new project with kernels, tests and CI",
        description=_INIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="here unless given"
    )
    command.add_argument(
        "--source",
        metavar="PATH",
        help="where easy_as is installed from: a checkout, a wheel or a git URL (the released one)",
    )


def percent(text: str) -> float:
    """A number of percent; the sign may be left out."""
    number = float(text.rstrip("%"))
    if not 0 <= number < float("inf"):
        raise ValueError
    return number
