"""Which tasks in flight use which bytes of memory: read after write, write after read or write."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

Access = tuple[int, int, bool]  # the first byte, the one after the last, whether it is written


class User(Protocol):
    """Something that uses memory until it is done; it is settled once its error was raised, too."""

    @property
    def is_done(self) -> bool: ...
    @property
    def is_settled(self) -> bool: ...


T = TypeVar("T", bound=User)

PRUNE_AT = 64  # segments, or readers of one: settled ones are dropped when there are so many


class _Segment(Generic[T]):
    """A range of bytes with the last task that writes it, and those that read it since."""

    __slots__ = ("begin", "end", "prune_at", "readers", "writer")

    def __init__(self, begin: int, end: int, writer: T | None, readers: list[T]) -> None:
        self.begin, self.end = begin, end
        self.writer, self.readers = writer, readers
        self.prune_at = PRUNE_AT

    def before(self, is_written: bool, has_failures: bool) -> Sequence[T]:
        """Whom an access may have to wait for.

        Readers do not wait for each other, but those that have failed are to be reported.
        """
        writers = () if self.writer is None else (self.writer,)
        if is_written:
            return (*writers, *self.readers)
        if not has_failures:
            return writers
        return (*writers, *(task for task in self.readers if task.is_done))

    def enter(self, task: T, is_written: bool) -> None:
        if is_written:
            self.writer, self.readers = task, []
            return
        self.readers.append(task)
        if len(self.readers) > self.prune_at:
            self.drop_settled()
            self.prune_at = max(PRUNE_AT, 2 * len(self.readers))

    def drop_settled(self) -> bool:
        """Whether nobody is left."""
        if self.writer is not None and self.writer.is_settled:
            self.writer = None
        self.readers = [task for task in self.readers if not task.is_settled]
        return self.writer is None and not self.readers


class Ledger(Generic[T]):
    """The segments, sorted and disjoint.

    >>> class Task:
    ...     is_done = is_settled = False
    >>> ledger, first, second = Ledger(), Task(), Task()
    >>> ledger.add(first, [(0, 64, True)])
    []
    >>> ledger.add(second, [(32, 96, False)]) == [first]
    True
    """

    def __init__(self) -> None:
        self._begins: list[int] = []
        self.segments: list[_Segment[T]] = []
        self.prune_at = PRUNE_AT
        self.has_failures = False  # whether some task may have failed and not be settled

    def add(self, task: T, accesses: Sequence[Access]) -> list[T]:
        """Enters a task; gives the tasks that have to be done before it."""
        needs = self.needs(accesses)
        for begin, end, is_written in accesses:
            if begin < end:
                self._enter(task, begin, end, is_written)
        if len(self.segments) > self.prune_at:
            self._prune()
        return needs

    def needs(self, accesses: Sequence[Access]) -> list[T]:
        """The tasks that have to be done before somebody accesses memory like this."""
        found: dict[int, T] = {}
        for begin, end, is_written in accesses:
            for segment in self._overlapping(begin, end):
                for task in segment.before(is_written, self.has_failures):
                    if not task.is_settled:
                        found[id(task)] = task
        return list(found.values())

    def _overlapping(self, begin: int, end: int) -> Sequence[_Segment[T]]:
        exact = self._exact(begin, end)
        if exact is not None:
            return (exact,)
        first, last = self._range(begin, end)
        return self.segments[first:last]

    def _range(self, begin: int, end: int) -> tuple[int, int]:
        if begin >= end:
            return 0, 0
        first = bisect_right(self._begins, begin) - 1
        if first < 0 or self.segments[first].end <= begin:
            first += 1
        return first, bisect_left(self._begins, end)

    def _exact(self, begin: int, end: int) -> _Segment[T] | None:
        """The segment of just this range, as the launches before have mostly left it."""
        at = bisect_left(self._begins, begin)
        if at == len(self._begins) or self._begins[at] != begin:
            return None
        found = self.segments[at]
        return found if found.end == end else None

    def _enter(self, task: T, begin: int, end: int, is_written: bool) -> None:
        exact = self._exact(begin, end)
        if exact is not None:
            exact.enter(task, is_written)
            return
        self._split_at(begin)
        self._split_at(end)
        first, last = self._range(begin, end)
        if is_written:
            made = [_Segment(begin, end, task, list[T]())]
        else:
            made = self._with_reader(task, begin, end, self.segments[first:last])
        self.segments[first:last] = made
        self._begins[first:last] = [segment.begin for segment in made]

    def _with_reader(
        self, task: T, begin: int, end: int, segments: Sequence[_Segment[T]]
    ) -> list[_Segment[T]]:
        """The segments of a range with a reader more, and new ones in the gaps between them."""
        made: list[_Segment[T]] = []
        for segment in segments:
            if begin < segment.begin:
                made.append(_Segment(begin, segment.begin, None, [task]))
            segment.enter(task, is_written=False)
            made.append(segment)
            begin = segment.end
        if begin < end:
            made.append(_Segment(begin, end, None, [task]))
        return made

    def _split_at(self, address: int) -> None:
        at = bisect_left(self._begins, address) - 1
        if at < 0 or self.segments[at].end <= address:
            return
        segment = self.segments[at]
        rest = _Segment(address, segment.end, segment.writer, [*segment.readers])
        segment.end = address
        self.segments.insert(at + 1, rest)
        self._begins.insert(at + 1, address)

    def _prune(self) -> None:
        self.segments = [each for each in self.segments if not each.drop_settled()]
        self._begins = [segment.begin for segment in self.segments]
        self.prune_at = max(PRUNE_AT, 2 * len(self.segments))
