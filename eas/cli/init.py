"""Writes a user's project that works at once: `eas init --source ../easy_as my_kernels`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import tomllib
from importlib.resources import files
from pathlib import Path

from eas.cli.show import kernels_of
from eas.support.command_line import UsageError, print_text
from eas.testing.snapshots import FOLDER, file_name, stored_text

# The files of a project, and the templates that they are made of.
TEMPLATES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    ".gitignore": "gitignore.txt",
    ".pre-commit-config.yaml": "pre-commit.yaml.txt",
    ".github/workflows/kernels.yml": "workflow.yml.txt",
    "kernels/__init__.py": "kernels.py.txt",
    "tests/test_kernels.py": "test_kernels.py.txt",
}
KERNELS = "kernels/__init__.py"
# A text that a test compares with `metal_snapshot`: the kernel, its types, the name of the file.
_TESTED = ("relu", ("*f16", "*f16", "i32"), {"BLOCK": 256}, "relu_half")

_URL = re.compile(r"(?:git|hg|svn|bzr)\+\S+|https?://\S+|file://\S+")
_ARCHIVES = (".whl", ".tar.gz", ".zip")

_LOCAL_HOOK = """\
  - repo: local
    hooks:
      - id: eas-check
        name: eas check
        entry: eas check
        language: system
        files: ^kernels/.*\\.py$"""
_HOOK = """\
  - repo: {url}
    rev: {rev}
    hooks:
      - id: eas-check
        files: ^kernels/.*\\.py$"""


def run(parsed: argparse.Namespace) -> int:
    """Writes the project, and prints what to do next."""
    folder = Path(parsed.folder)
    written = write_project(folder, parsed.source)
    where = "" if folder.resolve() == Path.cwd() else f"cd {_quoted(folder)} && "
    wrote = [f"wrote {folder / name}" for name in written]
    return print_text("\n".join([*wrote, "", "next:", f"  {where}uv run pytest"]))


def write_project(folder: Path, source: str | None) -> list[str]:
    """Writes the files of a project, and gives their names; nothing is overwritten."""
    url = None if source is None else source_url(source)
    texts = {name: _filled(template, folder, url) for name, template in TEMPLATES.items()}
    stored = [f"kernels/{FOLDER}/{name}.metal" for name in ("relu", "softmax")]
    stored.append(f"tests/{FOLDER}/{_TESTED[3]}.metal")
    _check_room(folder, [*texts, *stored])
    for name, text in texts.items():
        _write(folder / name, text)
    for name, text in _metal_texts(folder).items():
        _write(folder / name, text)
    return [*texts, *stored]


def source_url(source: str) -> str:
    """Where easy_as is installed from, as a requirement has it."""
    if any(each in source for each in "\"'\\ \n\t") and _URL.match(source):
        raise UsageError(f"{source!r} is no URL: it has a space, a quote or a backslash")
    if _URL.fullmatch(source):
        return source
    path = Path(source).resolve()
    if not path.exists():
        what = "`--source` is a checkout, a wheel or a URL"
        raise UsageError(f"there is no file or folder {source}; {what}")
    if path.is_dir() and _project_name(path) != "easy_as":
        raise UsageError(f"{source} is no checkout of easy_as: its pyproject.toml does not say so")
    if path.is_file() and not path.name.endswith(_ARCHIVES):
        raise UsageError(f"{source} is neither a checkout nor a wheel nor a source archive")
    return path.as_uri()


def _project_name(folder: Path) -> str:
    try:
        table = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        return str(table["project"]["name"]).replace("-", "_")
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _check_room(folder: Path, names: list[str]) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file")
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken:
        listed = "\n".join(f"  {folder / name}" for name in taken)
        raise UsageError(f"nothing is written, these files are there already:\n{listed}")


def _filled(template: str, folder: Path, url: str | None) -> str:
    text = files("eas.cli").joinpath("project", template).read_text("utf-8")
    at = "" if url is None else f" @ {url}"
    values = {
        "NAME": _name(folder),
        "EASY_AS": f"easy_as{at}",
        "EASY_AS_HOST": f"easy_as[host]{at}",
        "CHECK_HOOK": _check_hook(url),
    }
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], text)


def _name(folder: Path) -> str:
    """A name for the package that every tool accepts."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    return f"{words or 'my'}-kernels" if words in ("", "easy-as") else words


def _check_hook(url: str | None) -> str:
    """The hook of the repository that easy_as comes from, or of the environment that is active."""
    address = (url or "").partition("#")[0]
    folder, _, name = address.removeprefix("git+").rpartition("/")
    name, _, rev = name.partition("@")
    if not address.startswith("git+") or not rev:
        return _LOCAL_HOOK
    return _HOOK.format(url=f"{folder}/{name}", rev=rev)


def _metal_texts(folder: Path) -> dict[str, str]:
    """The texts that `eas snapshot` and the tests compare with."""
    kernels = kernels_of(str(folder / KERNELS))
    texts: dict[str, str] = {}
    for name, kernel in kernels.items():
        for number, example in enumerate(kernel.examples, 1):
            file = file_name(name, number, len(kernel.examples))
            compiled = kernel.compile(*example.args, **example.kwargs)
            texts[f"kernels/{FOLDER}/{file}"] = stored_text(compiled)
    name, types, constants, stored = _TESTED
    compiled = kernels[name].compile(*types, **constants)
    return texts | {f"tests/{FOLDER}/{stored}.metal": stored_text(compiled)}


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))
