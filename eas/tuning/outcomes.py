"""What came of a trial."""

from __future__ import annotations

from statistics import median
from typing import Literal

from eas.support.records import frozen

Status = Literal["ok", "refused", "wrong", "failed", "crashed", "timeout", "memory"]

MEANINGS: dict[Status, str] = {
    "ok": "right, and timed",
    "refused": "refused before it ran",
    "wrong": "another result than the reference",
    "failed": "an error while it ran",
    "crashed": "its process died",
    "timeout": "stopped: it took too long",
    "memory": "stopped: it took too much memory",
}


@frozen
class Outcome:
    """The end of a trial: its status with a reason, and seconds per run if it is right.

    `beside` are samples of the best candidate so far, taken in turns with those of this one: the
    two are compared with each other, not with samples of another minute.
    """

    status: Status
    reason: str = ""
    samples: tuple[float, ...] = ()
    beside: tuple[float, ...] = ()

    @property
    def is_right(self) -> bool:
        return self.status == "ok"

    @property
    def seconds(self) -> float:
        """The median of the samples; infinite for a candidate that must not win."""
        return median(self.samples) if self.is_right and self.samples else float("inf")

    def relative_to(self, best: float) -> float:
        """Seconds, given what the best one so far takes.

        The fastest samples are compared: whatever else the machine does only adds to them.
        """
        if not self.is_right or not self.beside:
            return self.seconds
        return min(self.samples) / min(self.beside) * best
