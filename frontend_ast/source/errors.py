"""How errors leave the front end: a refusal, a list of diagnostics, an exception for the user."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from eas.support.diagnostics import Diagnostic, render, use_color
from eas.support.location import Loc
from eas.support.records import replace


class Refusal(Exception):
    """Raised where a construct cannot be lowered; whoever lowers the statement catches it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return render(self.diagnostic)


class CompileError(SyntaxError):
    """A kernel that cannot be compiled: `diagnostics` says why and where, in the user's file.

    `is_partial` says that something was unknown, so that there may be other errors.
    """

    __module__ = "eas"  # where a user imports it from; tracebacks show it

    diagnostics: tuple[Diagnostic, ...]
    kernel: str
    is_partial: bool

    def __init__(
        self, diagnostics: Sequence[Diagnostic], kernel: str = "", *, is_partial: bool = False
    ) -> None:
        self.diagnostics = tuple(diagnostics)
        self.kernel = kernel
        self.is_partial = is_partial
        loc = self.diagnostics[0].loc
        if loc.line == 0:  # made by the compiler itself: there is no place to point at
            super().__init__(self.diagnostics[0].message)
            return
        filename = loc.source.path or loc.source.name
        text = loc.source.line(loc.line) or None
        start, end = (loc.line, loc.column + 1), (loc.end_line, loc.end_column + 1)
        super().__init__(self.diagnostics[0].message, (filename, *start, text, *end))

    @property
    def msg(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What `traceback` and IPython print below the place; in colour if that is a terminal."""
        return self.render(use_color(sys.stderr))

    def render(self, color: bool = False) -> str:
        """All diagnostics as text, and a closing line that counts them."""
        texts = [render(diagnostic, color) for diagnostic in self.diagnostics]
        return "\n\n".join([*texts, self._closing_line()])

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.diagnostics, self.kernel), self.__dict__

    def _closing_line(self) -> str:
        count = sum(diagnostic.severity == "error" for diagnostic in self.diagnostics)
        where = f" in kernel `{self.kernel}`" if self.kernel else ""
        return f"{count} error{'' if count == 1 else 's'}{where}"


def internal_error(
    cause: Exception, loc: Loc, kernel: str, found: Sequence[Diagnostic] = ()
) -> CompileError:
    """What the compiler did not foresee, at the place where it happened; to be raised from it."""
    diagnostic = Diagnostic(
        "E0900",
        f"internal compiler error: {type(cause).__name__}: {cause}",
        loc,
        notes=("this is a fault of easy_as, not of the kernel",),
        help=("please report it, with the kernel",),
    )
    return CompileError([*found, diagnostic], kernel)


def raised_by(error: Exception) -> str | None:
    """The function that raised an error, if it is the user's: `Point.__eq__`.

    Constants are the user's objects. The compiler compares them, hashes them, tests their truth.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    is_ours = package in ("eas", "numpy", "ml_dtypes") or package in sys.stdlib_module_names
    return None if is_ours else trace.tb_frame.f_code.co_qualname


def failed_in(
    culprit: str, cause: Exception, loc: Loc, kernel: str, found: Sequence[Diagnostic] = ()
) -> CompileError:
    """A function of the user's that raised an error while the kernel was compiled."""
    diagnostic = Diagnostic(
        "E0701",
        f"`{culprit}` cannot be computed",
        loc,
        notes=(f"Python raises {type(cause).__name__}: {cause}",),
    )
    return CompileError([*found, diagnostic], kernel)


def too_deep(loc: Loc, kernel: str) -> CompileError:
    """A kernel whose nesting goes beyond Python's stack."""
    diagnostic = Diagnostic(
        "E0902",
        "this kernel is nested too deeply",
        loc,
        notes=("a chain of `elif` counts as that many branches inside of each other",),
        help=("look values up in an array, split long expressions, use helper functions",),
    )
    return CompileError([diagnostic], kernel)


class Diagnostics:
    """What one compile has found so far; what was found since a mark can be taken back."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, object], Diagnostic] = {}

    @property
    def items(self) -> tuple[Diagnostic, ...]:
        return tuple(self._found.values())

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep it, unless the same was found at this place on another path.

        Of a name without a value only the first use is reported: the name is wrong, not each use.
        """
        what: object = replace(diagnostic.loc, caller=None)
        if diagnostic.code in ("E0201", "E0202", "E0203", "E0205"):
            what = (diagnostic.message, diagnostic.secondary)
        self._found.setdefault((diagnostic.code, what), diagnostic)

    def mark(self) -> int:
        """The present state, for `rollback`."""
        return len(self._found)

    def rollback(self, mark: int) -> None:
        """Forget what was added since `mark`."""
        for key in list(self._found)[mark:]:
            del self._found[key]

    def raise_if_any(self, kernel_name: str, *, is_partial: bool = False) -> None:
        """Raise all of them as one `CompileError`, if there is an error among them."""
        if any(diagnostic.severity == "error" for diagnostic in self.items):
            raise CompileError(self.items, kernel_name, is_partial=is_partial)
