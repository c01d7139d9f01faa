"""What came of a trial."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Literal

from eas.support.records import frozen

Status = Literal["ok", "refused", "wrong", "failed", "crashed", "timeout", "memory"]

RECENT = 5  # trials, by which it is judged how fast the machine is now
DISTURBED = 1.5  # times the usual: the best candidate was disturbed, and so is what it is beside

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

    `beside` are samples of the best candidate so far, interleaved with those of this one: the
    two are compared with each other, not with samples of another minute. `report` is the whole
    error, if that says more than the reason.
    """

    status: Status
    reason: str = ""
    samples: tuple[float, ...] = ()
    beside: tuple[float, ...] = ()
    report: str = ""

    @property
    def is_right(self) -> bool:
        return self.status == "ok"

    @property
    def seconds(self) -> float:
        """The median of the samples; infinite for a candidate that must not win."""
        return median(self.samples) if self.is_right and self.samples else float("inf")

    def relative_to(self, best: float, usual: float | None = None) -> float:
        """Seconds, given what the best one so far takes: as if the machine had not changed since.

        The fastest samples are compared: whatever else the machine does only adds to them.
        `usual` is how many times as long as before everything takes in trials at this time. If
        the best one alone took much longer beside this one, something else disturbed it.
        """
        if not self.is_right or not self.beside:
            return self.seconds
        slowness = min(self.beside) / best
        if usual is not None and slowness > DISTURBED * usual:
            slowness = usual
        return min(self.samples) / slowness


def usual_slowness(tried: Iterable[tuple[Outcome, float]]) -> float | None:
    """The factor by which everything is slower now than at best, from the last trials."""
    found: list[float] = []
    best = float("inf")
    for outcome, seconds in tried:
        if outcome.is_right and outcome.samples:
            found.append(min(outcome.beside) / best if outcome.beside and best else 1.0)
            best = min(best, seconds)
    return min(found[-RECENT:], default=None)
