"""The ledger of memory in use, against a comparison of every byte."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from eas.runtime.streams.hazards import Access, Ledger

SIZE = 12


@dataclass(eq=False)
class User:
    number: int
    is_settled: bool = False

    @property
    def is_done(self) -> bool:
        return self.is_settled


@dataclass
class Bytes:
    """The last writer of each byte, and its readers since."""

    writers: list[User | None] = field(default_factory=lambda: [None] * SIZE)
    readers: list[list[User]] = field(default_factory=lambda: [[] for _ in range(SIZE)])

    def add(self, user: User, accesses: list[Access]) -> set[int]:
        needs: set[int] = set()
        for begin, end, is_written in accesses:
            for byte in range(begin, end):
                before = [self.writers[byte], *(self.readers[byte] if is_written else [])]
                needs |= {each.number for each in before if each and not each.is_settled}
        for begin, end, is_written in accesses:
            for byte in range(begin, end):
                if is_written:
                    self.writers[byte], self.readers[byte] = user, []
                else:
                    self.readers[byte].append(user)
        return needs - {user.number}


accesses = st.lists(
    st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), st.booleans()), min_size=1, max_size=3
)


@given(st.lists(st.tuples(accesses, st.integers(0, 40)), max_size=30))
def test_a_ledger_finds_what_a_comparison_of_every_byte_finds(
    steps: list[tuple[list[Access], int]],
) -> None:
    ledger: Ledger[User] = Ledger()
    ledger.prune_at = 3
    expected, users = Bytes(), list[User]()
    for number, (used, settled) in enumerate(steps):
        user = User(number)
        users.append(user)
        found = {each.number for each in ledger.add(user, used)}
        assert found == expected.add(user, used)
        if settled < len(users):
            users[settled].is_settled = True


def test_readers_do_not_wait_for_each_other() -> None:
    ledger: Ledger[User] = Ledger()
    first, second, writer = User(0), User(1), User(2)
    assert ledger.add(first, [(0, 8, False)]) == []
    assert ledger.add(second, [(4, 12, False)]) == []
    assert ledger.add(writer, [(6, 7, True)]) == [first, second]


def test_a_write_hides_what_was_before_it() -> None:
    ledger: Ledger[User] = Ledger()
    first, second, third = User(0), User(1), User(2)
    ledger.add(first, [(0, 8, True)])
    assert ledger.add(second, [(0, 8, True)]) == [first]
    assert ledger.add(third, [(0, 8, False)]) == [second]


def test_memory_that_only_touches_is_apart() -> None:
    ledger: Ledger[User] = Ledger()
    ledger.add(User(0), [(0, 8, True)])
    assert ledger.add(User(1), [(8, 16, True)]) == []
    assert ledger.add(User(2), [(8, 8, True)]) == []


def test_settled_segments_are_dropped() -> None:
    ledger: Ledger[User] = Ledger()
    for number in range(1000):
        user = User(number)
        ledger.add(user, [(number * 8, number * 8 + 8, True)])
        user.is_settled = True
    assert len(ledger.segments) <= 65


def test_settled_readers_are_dropped() -> None:
    ledger: Ledger[User] = Ledger()
    for number in range(1000):
        user = User(number)
        ledger.add(user, [(0, 8, False)])
        user.is_settled = True
    assert len(ledger.segments[0].readers) <= 65
