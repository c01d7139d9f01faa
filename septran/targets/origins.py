"""Why a statement is there, as the text of a comment."""

from __future__ import annotations

from eas.septran.flat.nodes import Origin


def describe(origin: Origin) -> str:
    """The reason and the places, or nothing."""
    places = [each for each in (origin.yaml, origin.python) if each is not None]
    shown = [f"{each.source.name}:{each.line}:{each.column + 1}" for each in places]
    return ", ".join([*([origin.because] if origin.because else []), *shown])
