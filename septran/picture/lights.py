"""What lights up with what: elements have a key of their own, and the keys that they light."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from eas.septran.picture.contents import Contents
from eas.support.location import Loc
from eas.support.records import frozen


@frozen
class Links:
    """The keys of one mapping on the page, which has a number.

    A line of the flat IR lights its line of the YAML and what is drawn of it; a line of the YAML
    lights all that it caused; a tensor lights the tensors of its name in all mappings.
    """

    number: int
    contents: Contents

    def op(self, line: int, yaml: Loc | None) -> str:
        """The attributes of a line of the flat IR."""
        return _attributes([self._op(line)], [self._op(line), *self._yaml(yaml)])

    def drawn(self, line: int | None, yaml: Loc | None) -> str:
        """The attributes of what is drawn for a line of the flat IR."""
        own = [] if line is None else [self._op(line)]
        return _attributes(own, [*own, *self._yaml(yaml)])

    def task(self, lines: Sequence[Loc]) -> str:
        """The attributes of a task: it lights its instance."""
        return _attributes([], [key for loc in lines for key in self._yaml(loc)])

    def tensor(self, name: str) -> str:
        key = f"t-{_plain(name)}"
        return _attributes([key], [key])

    def yaml_line(self, file: int, line: int) -> str:
        """The attributes of a line of a file: what it lights is found by what lights it."""
        return f'data-key="{self._line(file, line)}"'

    def _op(self, line: int) -> str:
        return f"o{self.number}-{line}"

    def _line(self, file: int, line: int) -> str:
        return f"y{self.number}-{file}-{line}"

    def _yaml(self, loc: Loc | None) -> list[str]:
        if loc is None or loc.source not in self.contents.files:
            return []
        return [self._line(self.contents.files.index(loc.source), loc.line)]


def _attributes(keys: Sequence[str], lights: Sequence[str]) -> str:
    parts = [f'data-key="{" ".join(keys)}"'] if keys else []
    if lights:
        parts.append(f'data-lights="{" ".join(lights)}"')
    return " ".join(parts)


def _plain(name: str) -> str:
    """A name as a key: without spaces, and safe in an attribute."""
    return escape("".join(name.split()), quote=True)
