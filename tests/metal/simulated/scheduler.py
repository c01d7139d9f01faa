"""The GPU's scheduler: it runs the steps of committed command buffers, of all queues.

Metal promises an order only by events, and for buffers that it tracks: commands of one queue that
use the same buffer run in the order of their commits, if one of them writes it. Whatever else is
ready may run next, and `Machine.choose` says which.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tests.metal.simulated.events import Signal, Wait
from tests.metal.simulated.machine import Machine

if TYPE_CHECKING:
    from tests.metal.simulated.commands import MTLCommandBuffer

# The GPU takes so many seconds unless somebody asks for its status or waits for it: whoever uses
# results without that finds none.
DELAY = 0.2


class Scheduler:
    """Its thread runs while something is committed, and ends then."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.changed = threading.Condition()
        self.pending: list[MTLCommandBuffer] = []
        self.is_running = False

    def commit(self, commands: MTLCommandBuffer) -> None:
        with self.changed:
            self.pending.append(commands)
            self.changed.notify_all()
            if not self.is_running:
                self.is_running = True
                threading.Thread(target=self._run_all, daemon=True).start()

    def hurry(self) -> None:
        """Somebody waits."""
        with self.changed:
            self.changed.notify_all()

    def _run_all(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        """Runs one step, or waits for something to run; gives whether anything is left."""
        with self.changed:
            if not self.pending:
                self.is_running = False
                return False
            ready = self._ready() if self._has_to_run() else []
            if not ready:
                self.changed.wait(0.005)
                return True
        choose = self.machine.choose
        commands = ready[choose(len(ready)) if choose else 0]
        if commands.run_step():
            with self.changed:
                self.pending.remove(commands)
            commands.finish()
        return True

    def _has_to_run(self) -> bool:
        oldest = min(commands.committed_at for commands in self.pending)
        is_awaited = any(commands.is_awaited.is_set() for commands in self.pending)
        return is_awaited or time.monotonic() - oldest > DELAY

    def _ready(self) -> list[MTLCommandBuffer]:
        """The command buffers whose next step may run now, the oldest first."""
        if self.machine.faults.hangs and not self.machine.end.is_set():
            for commands in self.pending:
                commands.is_hung = True
        return [
            commands
            for number, commands in enumerate(self.pending)
            if self._is_ready(commands, self.pending[:number])
        ]

    def _is_ready(self, commands: MTLCommandBuffer, before: list[MTLCommandBuffer]) -> bool:
        same_queue = [each for each in before if each.owner is commands.owner]
        if any(each.is_hung for each in (commands, *same_queue)) and not self.machine.end.is_set():
            return False
        if self.machine.choose is None and same_queue:
            return False
        match commands.next_step():
            case Wait(event, value):
                return event.value >= value
            case None | Signal():
                return True
            case step:
                uses = step.buffers()
                return not any(_conflict(uses, each.buffers_left()) for each in same_queue)


def _conflict(uses: dict[object, bool], others: dict[object, bool]) -> bool:
    return any(uses[buffer] or others[buffer] for buffer in uses.keys() & others.keys())
