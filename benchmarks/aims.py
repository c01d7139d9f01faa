"""What a line of the table should show, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.peers import SHOWN

Times = Mapping[str, float]  # seconds by the name of a peer; ours is "eas"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The fastest of some peers takes at least `factor` times as long as we do."""

    factor: float
    peers: tuple[str, ...]

    def judge(self, times: Times) -> tuple[str, bool] | None:
        """The aim and what became of it; None if none of the peers is here."""
        theirs = {name: times[name] for name in self.peers if name in times}
        if not theirs:
            return None
        best = min(theirs, key=lambda name: theirs[name])
        ratio = theirs[best] / times["eas"]
        return f"{SHOWN[best]} ≥ {self.factor:g}: {ratio:.2f}", ratio >= self.factor


@dataclass(frozen=True, slots=True)
class Under:
    """We take less than so many seconds."""

    seconds: float

    def judge(self, times: Times) -> tuple[str, bool] | None:
        return f"< {duration(self.seconds)}", times["eas"] < self.seconds


Aim = AtLeast | Under


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:  # which is written as one
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
