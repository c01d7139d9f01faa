"""The process that imports a file and compiles its kernels: it reads requests and writes answers.

One request is a line of JSON: `{"method": "analyze", ...}`; the answer is a line of JSON. What the
module prints goes to a file of its own, so that it cannot disturb the answers.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from eas.analysis.analyze import Analysis, Found, Options, broken, file_record
from eas.analysis.loading import ImportFailure, import_file, read_text
from eas.analysis.moving import Cache, Key
from eas.analysis.namespace import Saved
from eas.analysis.outline import Outline, Written, normalized
from eas.analysis.results import FileRecord, TextRecord, record_of
from eas.analysis.settings import Settings, find_settings
from eas.frontend_ast.lower import Incomplete
from eas.frontend_ast.source.errors import CompileError
from eas.msl.cxx.python_lines import places_behind
from eas.support.command_line import UsageError
from eas.support.records import frozen

_MOST_OUTPUT = 20_000

# More kernels than these that changed at once are written for their target after the answer.
_AT_ONCE = 2


class Session:
    """One file, from its import on."""

    def __init__(self, path: str, output: IO[bytes]) -> None:
        self.path = path
        self.output = output
        self.settings = _settings(path)
        self.saved: Saved | None = None
        self._cache = Cache()
        self._newest: tuple[Analysis, list[Found]] | None = None

    def load(self, *, color: bool = False) -> dict[str, Any]:
        """Imports the file; what stands in the way is the answer."""
        try:
            text = read_text(self.path)
            outline = Outline(text, self.path)
        except (SyntaxError, ValueError):  # `analyze` reports it
            return {"diagnostics": [], "output": "", "missing": ""}
        try:
            self.saved = Saved(outline, import_file(self.path, self.settings.import_folders))
        except ImportFailure as error:
            failed = [record_of(each, color=color) for each in error.diagnostics]
            return {"diagnostics": failed, "output": self._printed(), "missing": error.missing}
        return {"diagnostics": [], "output": self._printed(), "missing": ""}

    def analyze(self, text: str | None, options: Options) -> FileRecord:
        """All that is found in a text; without one, in the file as it is saved."""
        written = text = text if text is None else normalized(text)
        try:
            if text is None:
                text = self.saved.outline.text if self.saved else read_text(self.path)
            is_saved = written is None or self._is_saved(text)
            analysis = self._analysis(text, options, is_saved=is_saved)
        except (SyntaxError, ValueError) as error:
            record = file_record(self.path, ())
            record["diagnostics"] = [broken(error, self.path, text, options.color)]
            return record
        if written is None:
            return file_record(self.path, map(analysis.find, analysis.written()))
        every = list(self._found(analysis))
        self._newest = (analysis, every)
        return file_record(self.path, every)

    def finish(self) -> dict[str, Any]:
        """Writes the text of a target for one kernel of the newest text that waits for it.

        `left` is how many wait now; after the last one `record` has all that is found.
        """
        analysis, every = self._newest or (None, [])
        waiting = [each for each in every if each.unfinished]
        if analysis is None or not waiting:
            return {"left": 0, "record": None}
        analysis.finish(waiting[0])
        left = len(waiting) - 1
        return {"left": left, "record": None if left else file_record(self.path, every)}

    def metal(self, text: str | None, line: int) -> dict[str, Any]:
        """The Metal text of the kernel at a line, and the Python line behind each of its lines."""
        text = normalized(text) if text is not None else read_text(self.path)
        try:
            analysis = self._analysis(text, Options(), is_saved=self._is_saved(text))
            kernels = analysis.written()
            here = [each for each in kernels if each.key[1] <= line <= (each.node.end_lineno or 0)]
            if not here:
                return {"error": "there is no kernel at this line"}
            compiled = analysis.compiled(here[-1]).metal
        except Incomplete:
            return {"error": "the types of the kernel are not known: give it `examples=`"}
        except (CompileError, SyntaxError, ValueError, TypeError) as error:
            return {"error": str(error)}
        name = os.path.basename(self.path)
        return {
            "kernel": here[-1].qualname,
            "text": compiled.text,
            "lines": lines_behind(compiled.text, name),
        }

    def _is_saved(self, text: str) -> bool:
        """Whether a text is the one that the module was made of."""
        return self.saved is not None and text == self.saved.outline.text

    def texts(self) -> list[TextRecord]:
        """The stored texts of all kernels of the file, for each of their signatures."""
        try:
            text = self.saved.outline.text if self.saved else read_text(self.path)
            analysis = self._analysis(text, Options(), is_saved=True)
        except (SyntaxError, ValueError):  # `load` or `analyze` reports it
            return []
        return [record for each in analysis.written() for record in analysis.texts(each)]

    def _analysis(self, text: str, options: Options, *, is_saved: bool) -> Analysis:
        outline = self.saved.outline if is_saved and self.saved else Outline(text, self.path)
        return Analysis(outline, self.saved, self.settings, options, is_saved=is_saved)

    def _found(self, analysis: Analysis) -> Iterator[Found]:
        """Kernels that are as they were in an earlier text are not compiled again.

        What the module itself has said of a kernel as it is saved is kept, too.
        """
        outline, kernels = analysis.outline, analysis.written()
        uses = list(_uses(outline, kernels))
        known = [self._known(analysis, use) for use in uses]
        is_quick = analysis.options.is_quick and known.count(None) > _AT_ONCE
        for use, before in zip(uses, known, strict=True):
            found = before or analysis.find(use.written, is_quick=is_quick)
            if before is None:
                self._cache.add(use.key, found, outline, use.written, use.rest)
            yield found
        self._cache.keep({use.key for use in uses})

    def _known(self, analysis: Analysis, use: Use) -> Found | None:
        found = self._cache.look_up(use.key, analysis.outline, use.written, use.rest)
        can_say_more = found is not None and found.is_cautious and not analysis.is_cautious
        return None if can_say_more else found

    def _printed(self) -> str:
        """What the module has printed since it was asked last."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return self.output.read()[-_MOST_OUTPUT:].decode(errors="replace")


@frozen(eq=False)
class Use:
    """A kernel, the numbers of the statements that it uses, and the key of all of their text."""

    written: Written
    rest: list[int]
    key: Key


def _uses(outline: Outline, kernels: Iterable[Written]) -> Iterator[Use]:
    every = range(len(outline.texts))
    names = frozenset(name for number in every for name in outline.bound_names(number))
    for each in kernels:
        rest = outline.needed_by(each)
        needed = tuple(outline.texts[number] for number in rest)
        own = (each.qualname, _column(each, outline), outline.texts[each.statement])
        # a name that is not defined may be like another one
        yield Use(each, rest, (*own, needed, names))


def _column(written: Written, outline: Outline) -> int:
    """How far below the start of its statement a function stands: two may have one name."""
    return written.key[1] - outline.spans[written.statement][0]


def _settings(path: str) -> Settings:
    try:
        return find_settings(path)
    except UsageError:  # `eas check` has said so; an editor goes on without
        return Settings()


def lines_behind(metal: str, name: str) -> list[int]:
    """The line of the Python file behind each line of a Metal text; 0 where there is none."""
    return [
        place.line if place is not None and place.name == name else 0
        for place in places_behind(metal)
    ]


def serve(requests: IO[str], answers: IO[str], output: IO[bytes]) -> None:
    """Answers requests until there are no more."""
    session: Session | None = None
    for line in requests:
        request: dict[str, Any] = json.loads(line)
        if session is None:
            session = Session(request["path"], output)
        answer = _METHODS[request["method"]](session, request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _load(session: Session, request: dict[str, Any]) -> Any:
    return session.load(color=request.get("color", False))


def _analyze(session: Session, request: dict[str, Any]) -> Any:
    return session.analyze(request.get("text"), Options(**request.get("options", {})))


def _finish(session: Session, request: dict[str, Any]) -> Any:
    del request
    return session.finish()


def _metal(session: Session, request: dict[str, Any]) -> Any:
    return session.metal(request.get("text"), request["line"])


def _texts(session: Session, request: dict[str, Any]) -> Any:
    return session.texts()


_METHODS: dict[str, Callable[[Session, dict[str, Any]], Any]] = {
    "load": _load,
    "analyze": _analyze,
    "finish": _finish,
    "metal": _metal,
    "texts": _texts,
}


def main() -> None:
    """Keeps the pipes to the parent for itself: the module gets others."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    number, path = tempfile.mkstemp(prefix="eas_output_")
    os.close(number)
    with open(path, "ab", 0) as written, open(path, "rb", 0) as output:
        with contextlib.suppress(OSError):  # where an open file has to keep its name
            os.unlink(path)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(written.fileno(), 1)
        os.dup2(written.fileno(), 2)
        serve(requests, answers, output)
