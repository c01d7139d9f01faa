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


def close_matches(name: str, known: Iterable[str], cutoff: float = 0.66) -> list[str]:
    """Names that look like this one, the likeliest first."""
    most = max(1, len(name) // 3)
    candidates = sorted(
        k
        for k in set(known)
        if not k.startswith("_")
        and k != name
        and (abs(len(k) - len(name)) <= most or k.startswith(name))
    )
    by_case = [k for k in candidates if k.lower() == name.lower()]
    return by_case or closest(name, candidates, cutoff)
