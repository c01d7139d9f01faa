"""Compiles the kernels of files without running them: `eas check kernels/ --format github`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from eas.analysis.kernel_files import may_have_kernels
from eas.analysis.loading import IMPORT, SYNTAX
from eas.analysis.process import TimeLimit, Worker, WorkerError
from eas.analysis.results import DiagnosticRecord, FileRecord, joined, merged, record_of
from eas.analysis.settings import FILE, Settings, find_settings, read_settings
from eas.cli import check_formats
from eas.support.command_line import UsageError, print_text
from eas.support.diagnostics import Diagnostic, use_color
from eas.support.location import Loc, SourceName
from eas.support.records import frozen

_MOST_WORKERS = 4
_LEFT_OUT = {"__pycache__", "node_modules", "build", "dist"}


@frozen(eq=False)
class Request:
    """What the command line says; None where the settings of the project decide."""

    files: Sequence[str]
    format: str = "text"
    target: str | None = None
    timeout: float | None = None
    config: str | None = None
    is_run: bool = True


def check(request: Request) -> int:
    """Prints what is wrong, and returns 0, 1 for errors, 2 if a file cannot be imported."""
    files = list(find_files(request))
    with ThreadPoolExecutor(min(_MOST_WORKERS, os.cpu_count() or 1)) as pool:
        records = list(pool.map(partial(check_file, request=request), files))
    for record in records:
        if record["output"]:
            print(f"--- printed by {record['path']}", file=sys.stderr)
            print(record["output"].rstrip("\n"), file=sys.stderr)
    every = merged(each for record in records for each in record["diagnostics"])
    print_text(check_formats.FORMATS[request.format](records, every))
    has_failed = any(each["code"] in (IMPORT, SYNTAX) for each in every)
    return 2 if has_failed else 1 if every else 0


def find_files(request: Request) -> Iterator[tuple[str, Settings]]:
    """The files with their settings: those named, and those with kernels in folders."""
    named = list(request.files)
    config = None if request.config is None else _read_config(request.config)
    if not named:
        settings = config or find_settings(os.getcwd())
        if not settings.paths:
            raise UsageError(f"no files are given, and {FILE} has no `paths` in [tool.eas.check]")
        named = [os.path.join(settings.root, each) for each in settings.paths]
    seen: set[str] = set()
    for name in named:
        if not os.path.exists(name):
            raise UsageError(f"there is no file or folder {name}")
        for file in _files_of(name, config):
            path = os.path.abspath(file)
            if path not in seen:
                seen.add(path)
                yield file, config or find_settings(path)


def _read_config(file: str) -> Settings:
    if not os.path.isfile(file):
        raise UsageError(f"there is no file {file}")
    return read_settings(os.path.abspath(file))


def _files_of(name: str, config: Settings | None) -> Iterator[str]:
    """A file is checked as it is named; in folders, files are left out that have no kernels."""
    if os.path.isfile(name):
        yield name
        return
    for folder, folders, files in os.walk(name):
        folders[:] = sorted(each for each in folders if not _is_left_out(folder, each))
        for file in sorted(files):
            path = os.path.join(folder, file)
            if not file.endswith(".py") or not may_have_kernels(path):
                continue
            if not (config or find_settings(path)).is_excluded(path):
                yield path


def _is_left_out(folder: str, name: str) -> bool:
    is_environment = os.path.isfile(os.path.join(folder, name, "pyvenv.cfg"))
    return name.startswith(".") or name in _LEFT_OUT or is_environment


def check_file(file: tuple[str, Settings], request: Request) -> FileRecord:
    """All that is found in one file, by a process of its own."""
    path, settings = file
    timeout = request.timeout or settings.timeout
    options: dict[str, object] = {
        "target": request.target or settings.target,
        "color": request.format == "text" and use_color(sys.stdout),
    }
    failed: list[DiagnosticRecord] = []
    output = missing = ""
    worker = Worker(path)
    try:
        if request.is_run:
            try:
                loaded = worker.ask("load", timeout, color=options["color"])
                failed, output = loaded["diagnostics"], loaded["output"]
                if loaded["missing"] and loaded["missing"] in settings.optional:
                    failed, missing = [], loaded["missing"]
            except WorkerError as error:
                failed = [_unanswered("the file cannot be imported", path, error)]
                worker = Worker(path)
        record = _analyzed(worker, path, timeout, options)
    finally:
        worker.close()
    record["diagnostics"] = joined(failed, record["diagnostics"])
    record["output"], record["missing"] = output, missing
    return record


def _analyzed(worker: Worker, path: str, timeout: float, options: dict[str, object]) -> FileRecord:
    try:
        return worker.ask("analyze", timeout, options=options)
    except WorkerError as error:
        what = _unanswered("the kernels cannot be compiled", path, error)
        return {
            "path": path,
            "kernels": [],
            "diagnostics": [what],
            "names": [],
            "output": "",
            "missing": "",
        }


def _unanswered(what: str, path: str, error: WorkerError) -> DiagnosticRecord:
    loc = Loc(SourceName(os.path.basename(path), os.path.abspath(path)), 1, 0, 1, 0)
    help = ("give it more time: `--timeout SECONDS`",) if isinstance(error, TimeLimit) else ()
    return record_of(Diagnostic(IMPORT, f"{what}: {error}", loc, help=help))
