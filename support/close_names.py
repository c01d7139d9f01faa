"""The name that was likely meant by one that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """The known name that looks most like another one, if one does: `closest("axpi", ["axpy"])`.

    It is never the name itself: that is known, so something else is wrong with it. Only errors ask,
    so the module that compares is not imported with `eas`.
    """
    from difflib import get_close_matches

    return get_close_matches(name, [each for each in known if each != name], 1, cutoff)
