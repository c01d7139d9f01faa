"""What a program does, as text for people: the ops that run once, and its loops over lanes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from eas.ir.nodes import Op
from eas.ir.text import summarize
from eas.llvm.lane_loop import LaneLoop
from eas.support.records import field, record

_INDENT = "  "


@record
class Listing:
    """Lines in the order of the LLVM text; `depth` counts the regions around them."""

    lines: list[str] = field(default_factory=list[str])
    depth: int = 0

    def once(self, op: Op) -> None:
        """An op that the program executes once, not in a loop over lanes."""
        self._line(f"once: {summarize(op)}")

    def lanes(self, loop: LaneLoop) -> None:
        """A loop over lanes with its fused ops; its reductions have results after the loop."""
        self._line(f"each lane of {' x '.join(map(str, loop.shape))}:")
        for op in (*loop.ops, *loop.reductions):
            self._line(f"{_INDENT}{summarize(op)}")

    @contextmanager
    def region(self) -> Generator[None]:
        """The lines of a program, and inside of it those of uniform branches and loops."""
        if self.depth:
            self._line(f"{_INDENT}region:")
        self.depth += 1
        yield
        self.depth -= 1

    def _line(self, text: str) -> None:
        self.lines.append(f"{_INDENT * (2 * self.depth - 2)}{text}")

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
