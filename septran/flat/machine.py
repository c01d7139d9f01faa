"""What the flat IR needs to know about a machine, as a plain table."""

from __future__ import annotations

from eas.support.records import frozen


@frozen
class Memory:
    """A memory: how many bytes it holds (None: as many as asked for) and who shares it.

    Threads of one kernel see each other's writes to a `synchronized` memory only after a barrier.
    A memory that is not (registers, or any memory where one thread runs a kernel) needs none.
    """

    name: str
    capacity: int | None = None
    is_synchronized: bool = False


@frozen
class Machine:
    """A machine: its processors, the outermost first, and its memories."""

    name: str
    procs: tuple[str, ...]
    memories: tuple[Memory, ...]

    def memory(self, name: str) -> Memory | None:
        """The memory of a name, if there is one."""
        return next((each for each in self.memories if each.name == name), None)
