"""The kernels of a tree: stored texts, and what its Python files compile to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from eas.analysis.analyze import UNTYPED
from eas.analysis.kernel_files import may_have_kernels
from eas.analysis.process import Worker, WorkerError
from eas.analysis.results import TextRecord
from eas.analysis.settings import FILE, Settings, find_settings, read_settings
from eas.review.sources import PythonPart, Sources
from eas.review.trees import Tree
from eas.support.command_line import UsageError
from eas.support.escapes import escape
from eas.support.records import frozen, replace
from eas.testing.snapshots import FOLDER as STORED_FOLDER

_MOST_WORKERS = 4
_LEFT_OUT = {"__pycache__", "node_modules", "build", "dist", "site-packages"}
_OURS = re.compile(r" threads? per program")
_HEAD = re.compile(r"// ([A-Za-z_]\w*)\(")
_KERNEL = re.compile(r"^kernel void (\w+)\(", re.MULTILINE)

Say = Callable[[str], None]


@frozen(eq=False)
class Version:
    """A kernel in one tree. `key` names it in both; `error` says why it has no Metal text.

    `compiled` is what its Python compiles to now, if `metal` is a stored text.
    """

    key: str
    name: str
    metal: str = ""
    ir: str = ""
    python: Sequence[PythonPart] = ()
    error: str = ""
    compiled: str = ""


@frozen(eq=False)
class Wanted:
    """Which kernels: those below `paths`; `is_compiled` is None where the tree decides."""

    paths: Sequence[str] = ()
    is_compiled: bool | None = None
    timeout: float | None = None


def read_versions(tree: Tree, wanted: Wanted, say: Say) -> dict[str, Version]:
    """The kernels of a tree by their keys.

    Stored texts are taken as they are. Python files are compiled if they are named, if the project
    names them for `eas check`, or if the tree has no stored texts.
    """
    sources = Sources(tree.folder, list(_walk(tree.folder, ".py")))
    stored = dict(_stored(tree, wanted, sources))
    files = [] if wanted.is_compiled is False else _files_to_compile(tree, wanted, bool(stored))
    compiled = _compile(tree, files, wanted, sources, say) if files else {}
    whole = _joined(stored, {key: v for key, v in compiled.items() if v.error != UNTYPED})
    names = {version.name for version in whole.values()}
    untyped = [v.name for v in compiled.values() if v.error == UNTYPED and v.name not in names]
    if untyped:
        say(f"left out of {tree.label}, {UNTYPED}: {', '.join(untyped)}")
    return whole


def _stored(tree: Tree, wanted: Wanted, sources: Sources) -> Iterator[tuple[str, Version]]:
    for file in _walk(tree.folder, ".metal"):
        key = _shown(file.with_suffix(""), tree)
        if not _is_wanted(key, wanted.paths):
            continue
        text = _read(file)
        if not _OURS.search(text.partition("#include")[0]):
            continue
        name = _name_of(text) or file.stem
        ir = _read(file.with_suffix(".ir")) if file.with_suffix(".ir").is_file() else ""
        parts = sources.parts_of(name, text, ir, near=file)
        yield key, Version(key, name, text, ir, parts)


def _is_wanted(path: str, paths: Sequence[str]) -> bool:
    """Whether a path is one of those given, or below one; a kernel may be named by its file."""
    if not paths:
        return True
    names = [each.removeprefix("./").strip("/") for each in paths]
    return any(
        each in ("", ".") or path == each or path.startswith(each + "/") or path + ".metal" == each
        for each in names
    )


def _name_of(text: str) -> str:
    head = _HEAD.match(text)
    kernel = _KERNEL.search(text)
    return head[1] if head else kernel[1] if kernel else ""


def _files_to_compile(tree: Tree, wanted: Wanted, has_stored: bool) -> list[Path]:
    settings = _settings(tree)
    roots = wanted.paths or settings.paths
    if not roots:
        roots = ["."] if wanted.is_compiled or not has_stored else []
    found: dict[Path, None] = {}
    for root in roots:
        place = tree.folder / root
        files = [place] if place.is_file() else _walk(place, ".py")
        for file in files:
            is_python = file.suffix == ".py" and may_have_kernels(str(file))
            if is_python and not settings.is_excluded(str(file)):
                found[file] = None
    return list(found)


def _settings(tree: Tree) -> Settings:
    file = tree.folder / FILE
    try:
        return read_settings(str(file)) if file.is_file() else Settings(str(tree.folder))
    except UsageError as error:
        raise UsageError(
            f"{tree.name}: {str(error).replace(f'{tree.folder}{os.sep}', '')}"
        ) from None


def _compile(
    tree: Tree, files: Sequence[Path], wanted: Wanted, sources: Sources, say: Say
) -> dict[str, Version]:
    say(f"compiling the kernels of {len(files)} file{'s' * (len(files) > 1)} of {tree.label}")
    with ThreadPoolExecutor(min(_MOST_WORKERS, os.cpu_count() or 1)) as pool:
        found = pool.map(partial(_texts, timeout=wanted.timeout, say=say, tree=tree), files)
        return {
            version.key: version
            for file, records in zip(files, found, strict=True)
            for version in _versions(tree, file, records, sources)
        }


def _texts(file: Path, timeout: float | None, say: Say, tree: Tree) -> list[TextRecord]:
    """What the kernels of a file compile to, by a process of its own, as `eas check` does it."""
    limit = timeout or find_settings(str(file)).timeout
    with Worker(str(file)) as worker:
        try:
            loaded = worker.ask("load", limit)
            failed = [each["message"] for each in loaded["diagnostics"]]
            if not failed:
                return worker.ask("texts", limit)
        except WorkerError as error:
            failed = [f"the file cannot be compiled: {error}"]
    say(f"{_shown(file, tree)} of {tree.label}: {failed[0]}")
    return _without_texts(file, limit, failed[0])


def _without_texts(file: Path, limit: float, message: str) -> list[TextRecord]:
    """The kernels of a file that cannot be imported: their names stand in its text."""
    with Worker(str(file)) as worker:
        try:
            kernels = worker.ask("analyze", limit)["kernels"]
        except WorkerError:
            return []
    return [
        {
            "name": each["name"],
            "line": each["line"],
            "signature": "",
            "metal": "",
            "ir": "",
            "error": message,
        }
        for each in kernels
    ]


def _versions(
    tree: Tree, file: Path, records: Sequence[TextRecord], sources: Sources
) -> Iterator[Version]:
    path = _shown(file, tree)
    seen: dict[str, int] = {}
    for record in records:
        name = record["name"]
        seen[name] = seen.get(name, 0) + 1
        number = f"-{seen[name]}" if seen[name] > 1 else ""
        key = f"{path}::{name}{number}"
        simple = name.rpartition(".")[2]
        parts = sources.parts_of(
            simple, record["metal"], record["ir"], near=file, line=record["line"]
        )
        yield Version(key, simple, record["metal"], record["ir"], parts, record["error"])


def _joined(stored: dict[str, Version], compiled: dict[str, Version]) -> dict[str, Version]:
    """A kernel with a stored text has it; its IR, which is not stored, is what was compiled."""
    whole = dict(stored)
    for key, version in compiled.items():
        own = _stored_text_of(key, version, stored)
        if own is None:
            whole[key] = version
        else:
            whole[own] = replace(
                stored[own],
                ir=stored[own].ir or version.ir,
                python=version.python,
                error=version.error,
                compiled=version.metal,
            )
    return whole


def _stored_text_of(key: str, version: Version, stored: dict[str, Version]) -> str | None:
    """The key of the stored text of a compiled kernel: beside its file, or the only one."""
    path, _, name = key.partition("::")
    name = name.rpartition(".")[2]
    folder = path.rpartition("/")[0]
    beside = "/".join(filter(None, (folder, STORED_FOLDER, name)))
    if beside in stored:
        return beside
    same = [
        each
        for each in stored
        if each.rpartition("/")[2] == name and f"/{STORED_FOLDER}/" in f"/{each}"
    ]
    return same[0] if len(same) == 1 else None


def _shown(file: Path, tree: Tree) -> str:
    """The path of a file in its tree, on one line whatever characters it has."""
    return escape(file.relative_to(tree.folder).as_posix())


def _walk(folder: Path, suffix: str) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not _is_left_out(root, each))
        for file in sorted(files):
            if file.endswith(suffix):
                yield Path(root, file)


def _is_left_out(root: str, name: str) -> bool:
    is_environment = os.path.isfile(os.path.join(root, name, "pyvenv.cfg"))
    return name.startswith(".") or name in _LEFT_OUT or is_environment


def _read(file: Path) -> str:
    """A text, with `\\n` at the ends of lines; bytes that are no UTF-8 are replaced."""
    return file.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
