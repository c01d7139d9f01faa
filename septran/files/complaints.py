"""How mistakes in files leave this package: collected as diagnostics, raised all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eas.frontend_ast.source.errors import CompileError
from eas.support.close_names import close_matches
from eas.support.diagnostics import Diagnostic, Label
from eas.support.location import NOWHERE, Loc
from eas.support.records import replace

SHOWN = 40  # a hostile file could have one mistake per byte


class SeptranError(CompileError):
    """Files that cannot be used: `diagnostics` says why and where."""

    def _closing_line(self) -> str:
        count = len(self.diagnostics)
        places = [each.loc for each in self.diagnostics if each.loc != NOWHERE]
        names = list(dict.fromkeys(loc.source.name for loc in places))
        where = f" in `{names[0]}`" if len(names) == 1 else f" in {len(names)} files"
        return f"{count} error{'' if count == 1 else 's'}{where if names else ''}"


class Complaints:
    """What was found wrong so far."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, Loc], Diagnostic] = {}

    def add(
        self,
        code: str,
        message: str,
        loc: Loc,
        *,
        label: str = "",
        secondary: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: Sequence[str] = (),
    ) -> None:
        """Keep a mistake, unless it was found before: a file may be read for several reasons."""
        self.take(
            Diagnostic(code, message, loc, label, tuple(secondary), tuple(notes), tuple(help))
        )

    def take(self, diagnostic: Diagnostic) -> None:
        """Keep a mistake that is described already, unless it was found before."""
        key = diagnostic.code, diagnostic.message, diagnostic.loc
        self._found.setdefault(key, diagnostic)

    def __bool__(self) -> bool:
        return bool(self._found)

    def error(self) -> SeptranError:
        """All of them as one exception, in the order of the text."""
        files = list(dict.fromkeys(each.loc.source for each in self._found.values()))
        found = sorted(
            self._found.values(),
            key=lambda each: (files.index(each.loc.source), each.loc.line, each.loc.column),
        )
        shown = found[:SHOWN]
        if len(found) > SHOWN:
            note = f"{len(found) - SHOWN} more mistakes are not shown"
            shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, note))
        return SeptranError(shown)

    def raise_if_any(self) -> None:
        if self._found:
            raise self.error()


def suggest(name: str, known: Iterable[str], what: str = "") -> tuple[str, ...]:
    """The likeliest name that was meant; if none is like it, all there are (`what` names them)."""
    known = list(known)
    if close := close_matches(name, known):
        return (f"did you mean `{close[0]}`?",)
    if not what or not known:
        return ()
    return (f"{what}: {', '.join(f'`{each}`' for each in known[:SHOWN])}",)


def quoted(text: str, limit: int = 60) -> str:
    """A text of the user's in a message, cut where it is long; line breaks are seen."""
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    shown = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return f"`{shown}`"
