"""Compiles the kernels of a text, and collects what is wrong with them and what names are."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from eas.analysis.loading import EXAMPLE, INTERNAL, SYNTAX, syntax_error
from eas.analysis.namespace import (
    Namespace,
    Saved,
    kernel_decorator,
    live_kernels,
    make_function,
)
from eas.analysis.outline import Outline, Written, lines_of, static_value
from eas.analysis.results import (
    DiagnosticRecord,
    FileRecord,
    KernelRecord,
    NameRecord,
    TextRecord,
    merged,
    place_of,
    record_of,
)
from eas.analysis.settings import Settings
from eas.analysis.signatures import Signature, Signatures, signatures_of, spell
from eas.compiler import CompiledKernel, compile, write_llvm
from eas.examples import ExampleError
from eas.frontend_ast import caution
from eas.frontend_ast.lower import Incomplete
from eas.frontend_ast.observing import Observed, observing
from eas.frontend_ast.source.errors import CompileError
from eas.frontend_ast.source.parameters import UNKNOWN, UnknownArg
from eas.frontend_ast.source.texts import Text
from eas.frontend_ast.table import TABLE
from eas.kernel import Kernel
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc, SourceName
from eas.support.records import field, frozen, record, replace
from eas.testing.snapshots import stored_text

UNTYPED = "because the types are not known"


@frozen(eq=False)
class Options:
    """How to analyze: for which target, with the types of names or without, for a terminal.

    If it `is_quick`, several kernels that changed at once wait for `Analysis.finish`.
    """

    target: str = "metal"
    with_names: bool = False
    color: bool = False
    is_quick: bool = False


@frozen(eq=False)
class Subject:
    """A kernel of the text: as the module has made it, or made of its code without running."""

    kernel: Kernel
    written: Written


@record(eq=False)
class Found:
    """What is found of one kernel of the text; `is_cautious` if the module could say more.

    `unfinished` is compiled, but not written for a target, which may still refuse it.
    """

    kernel: KernelRecord
    diagnostics: list[DiagnosticRecord] = field(default_factory=list[DiagnosticRecord])
    names: list[NameRecord] = field(default_factory=list[NameRecord])
    is_cautious: bool = False
    unfinished: list[tuple[Subject, CompiledKernel]] = field(
        default_factory=list["tuple[Subject, CompiledKernel]"]
    )


class Analysis:
    """One text of a file, with the module that the file makes, if it was imported.

    `is_saved` says that the text is the one that was imported. Then the kernels are those of the
    module. A text that is not saved is only read: nothing of it runs.
    """

    def __init__(
        self,
        outline: Outline,
        saved: Saved | None,
        settings: Settings,
        options: Options,
        *,
        is_saved: bool,
    ) -> None:
        self.outline = outline
        self.settings = settings
        self.options = options
        self.is_cautious = not is_saved or saved is None
        self._source = SourceName(os.path.basename(outline.path), outline.path, outline.lines)
        if is_saved and saved is not None:
            self.names = saved.globals
            self._live = live_kernels(saved.globals, outline.path)
            self._text = Text(outline.path, outline.lines)
            self._namespace = None
        else:
            self._namespace = Namespace(outline, saved)
            self.names = self._namespace.names
            self._live = {}

    def written(self) -> list[Written]:
        """The kernels of the text; one that a call of `eas.kernel` makes is only known live."""
        return [
            each
            for each in self.outline.functions
            if each.key in self._live or kernel_decorator(each, self.names) is not None
        ]

    def find(self, written: Written, *, is_quick: bool = False) -> Found:
        """All that there is to say about a kernel; what a target says of it waits if asked."""
        found = Found(_kernel_record(written))
        try:
            subjects = list(self._subjects(written))
        except (ExampleError, TypeError) as error:
            found.diagnostics.append(self._refused(written, error))
            return found
        for subject in subjects:
            self._add(subject, found)
        if not is_quick:
            self.finish(found)
        found.diagnostics = merged(found.diagnostics)
        return found

    def finish(self, found: Found) -> None:
        """Writes the texts of a target."""
        unfinished, found.unfinished = found.unfinished, []
        for subject, compiled in unfinished:
            errors = self._errors(subject, found, lambda each=compiled: self._write(each))
            found.diagnostics += [self._record(each, subject.written) for each in errors]
        found.diagnostics = merged(found.diagnostics)

    def compiled(self, written: Written) -> CompiledKernel:
        """The kernel for the first of its signatures."""
        subject = next(iter(self._subjects(written)))
        signature = self._signatures(subject).items[0]
        return self._compile(subject.kernel, signature, Observed())

    def texts(self, written: Written) -> list[TextRecord]:
        """The texts of a kernel for each signature that is known, or why there are none."""
        try:
            every = [
                (s, each) for s in self._subjects(written) for each in self._signatures(s).items
            ]
        except (ExampleError, TypeError) as error:
            return [_text_record(written, error=str(error))]
        return [self._texts(*each) for each in every]

    def _texts(self, subject: Subject, signature: Signature) -> TextRecord:
        if signature.unknown:
            return _text_record(subject.written, signature.text, error=UNTYPED)
        found = Found(_kernel_record(subject.written))

        def write() -> None:
            self._write(self._compile(subject.kernel, signature, Observed()))

        errors = self._errors(subject, found, write)
        if errors:
            message = "; ".join(f"{each.code}: {each.message}" for each in errors)
            return _text_record(subject.written, signature.text, error=message)
        if found.kernel["checked"] == "partly":
            return _text_record(subject.written, signature.text, error=UNTYPED)
        compiled = self._compile(subject.kernel, signature, Observed())
        record = _text_record(subject.written, signature.text)
        record["metal"], record["ir"] = stored_text(compiled), compiled.ir
        return record

    def _subjects(self, written: Written) -> Iterator[Subject]:
        if live := self._live.get(written.key):
            yield from (Subject(kernel, written) for kernel in live)
            return
        function = self._function(written)
        if function is None:
            return
        decorator = kernel_decorator(written, self.names)
        given = _keywords(decorator, self.names)
        examples = given.get("examples", ())
        known: Any = () if examples is UNKNOWN else examples
        fast_math = given.get("fast_math", False) is True
        yield Subject(Kernel(function, fast_math=fast_math, examples=known), written)

    def _function(self, written: Written) -> FunctionType | None:
        if self._namespace is not None:
            return self._namespace.function(written)
        return make_function(self.outline, self._text, written, self.names)

    def _signatures(self, subject: Subject) -> Signatures:
        project = self.settings.examples_of(self.outline.path, subject.written.qualname)
        return signatures_of(subject.kernel, project, is_cautious=self.is_cautious)

    def _add(self, subject: Subject, found: Found) -> None:
        """Compiles a kernel for each of its signatures."""
        try:
            signatures = self._signatures(subject)
        except ExampleError as error:
            found.diagnostics.append(self._refused(subject.written, error))
            return
        found.kernel["checked"] = signatures.source
        found.kernel["signatures"] += [each.text for each in signatures.items]
        for signature in signatures.items:
            unknown = [n for n in signature.unknown if n not in found.kernel["unknown"]]
            found.kernel["unknown"] += unknown
            observed = Observed()

            def compile_it(signature: Signature = signature, observed: Observed = observed) -> None:
                compiled = self._compile(subject.kernel, signature, observed)
                found.unfinished.append((subject, compiled))

            errors = self._errors(subject, found, compile_it)
            found.diagnostics += [self._record(each, subject.written) for each in errors]
            if self.options.with_names and not found.names:
                found.names = [
                    *self._parameters(subject.written, signature),
                    *names_of(observed, self.outline.path),
                ]

    def _write(self, compiled: CompiledKernel) -> None:
        if self.options.target == "metal":
            _ = compiled.metal
        else:
            write_llvm(compiled.unit_stride.function)

    def _errors(self, subject: Subject, found: Found, act: Callable[[], None]) -> list[Diagnostic]:
        try:
            act()
        except Incomplete:
            found.kernel["checked"] = "partly"
            found.is_cautious = self.is_cautious
        except CompileError as error:
            found.is_cautious = found.is_cautious or (self.is_cautious and error.is_partial)
            head = self._head(subject.written)
            return [_placed(each, head) for each in error.diagnostics]
        except Exception as error:  # of the compiler; the kernel is named, and the others go on
            message = f"internal compiler error: {type(error).__name__}: {error}"
            return [Diagnostic(INTERNAL, message, self._head(subject.written))]
        return []

    def _compile(self, kernel: Kernel, signature: Signature, observed: Observed) -> CompiledKernel:
        return compile(
            kernel.fn,
            signature.arguments,
            fast_math=kernel.fast_math,
            table=observing(observed) if self.options.with_names else TABLE,
            caution=caution if self.is_cautious else None,
        )

    def _head(self, written: Written) -> Loc:
        """The name of a kernel in its `def`."""
        node = written.node
        line = self.outline.lines[node.lineno - 1]
        start = max(line.find(node.name), 0)
        return Loc(self._source, node.lineno, start, node.lineno, start + len(node.name))

    def _refused(self, written: Written, error: Exception) -> DiagnosticRecord:
        """An example that does not fit, at the decorator."""
        decorator = kernel_decorator(written, self.names)
        loc = self._head(written) if decorator is None else self._loc(decorator)
        return self._record(Diagnostic(EXAMPLE, str(error), loc), written)

    def _record(self, diagnostic: Diagnostic, written: Written) -> DiagnosticRecord:
        options = self.options
        return record_of(
            diagnostic, written.qualname, color=options.color, with_text=not options.with_names
        )

    def _loc(self, node: ast.expr) -> Loc:
        first, last = node.lineno, node.end_lineno or node.lineno
        start = self._characters(first, node.col_offset)
        end = self._characters(last, node.end_col_offset or node.col_offset)
        return Loc(self._source, first, start, last, end)

    def _characters(self, line: int, column: int) -> int:
        return len(self.outline.lines[line - 1].encode()[:column].decode(errors="replace"))

    def _parameters(self, written: Written, signature: Signature) -> Iterator[NameRecord]:
        arguments = written.node.args
        for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            argument = signature.arguments.get(a.arg, UnknownArg())
            if not isinstance(argument, UnknownArg):
                start = self._characters(a.lineno, a.col_offset)
                loc = Loc(self._source, a.lineno, start, a.lineno, start + len(a.arg))
                place = place_of(loc)
                yield {
                    "place": place,
                    "text": spell(argument),
                    "isAssigned": a.annotation is None,
                    "definition": place,
                }


def _kernel_record(written: Written) -> KernelRecord:
    node = written.node
    return {
        "name": written.qualname,
        "line": written.key[1],
        "endLine": node.end_lineno or node.lineno,
        "checked": "",
        "signatures": [],
        "unknown": [],
    }


def _text_record(written: Written, signature: str = "", error: str = "") -> TextRecord:
    return {
        "name": written.qualname,
        "line": written.node.lineno,
        "signature": signature,
        "metal": "",
        "ir": "",
        "error": error,
    }


def _keywords(decorator: ast.expr | None, names: dict[str, Any]) -> dict[str, Any]:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {each.arg: static_value(each.value, names) for each in keywords if each.arg}


def _placed(diagnostic: Diagnostic, otherwise: Loc) -> Diagnostic:
    """A diagnostic of the compiler itself has no place: it is at the kernel."""
    return diagnostic if diagnostic.loc.line else replace(diagnostic, loc=otherwise)


def names_of(observed: Observed, path: str) -> Iterator[NameRecord]:
    """What the names in a file are; one with several types has all of them."""
    for loc, by_caller in observed.names.items():
        if loc.source.path != path:
            continue
        seen = list(by_caller.values())
        definition = seen[-1].definition
        yield {
            "place": place_of(loc),
            "text": " or ".join(dict.fromkeys(each.text for each in seen)),
            "isAssigned": any(each.is_assigned for each in seen),
            "definition": place_of(definition) if definition else None,
        }


def broken(
    error: SyntaxError | ValueError, path: str, text: str | None, color: bool
) -> DiagnosticRecord:
    """The record of a text that Python cannot parse; None if it cannot even be decoded."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return record_of(syntax_error(error, path, text), color=color)
    before = (text or "").partition("\0")[0]
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(errors="replace")
    lines = lines_of(before + "?")
    source = SourceName(os.path.basename(path), path, lines_of(text or before))
    start = len(lines[-1]) - 1
    loc = Loc(source, len(lines), start, len(lines), start + 1)
    return record_of(Diagnostic(SYNTAX, f"invalid syntax: {error}", loc), color=color)


def file_record(path: str, found: Iterable[Found]) -> FileRecord:
    """What is found of all kernels of a file."""
    every = list(found)
    return {
        "path": path,
        "kernels": [each.kernel for each in every],
        "diagnostics": merged(record for each in every for record in each.diagnostics),
        "names": [name for each in every for name in each.names],
        "output": "",
        "missing": "",
    }
