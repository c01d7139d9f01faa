"""Records: what `dataclasses` would make of the same classes, and no more time spent on it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest

from eas.support.records import field, frozen, record, replace


@frozen
class Point:
    x: int
    y: int = 0
    origin: ClassVar[int] = 0


@frozen
class Named:
    name: str
    note: str = ""

    def __hash__(self) -> int:
        return len(self.name)


@frozen
class Place:
    line: int
    path: str = field(default="", compare=False)


@frozen(eq=False)
class Thing:
    name: str


@frozen
class Empty:
    pass


@record
class Stack:
    name: str
    items: list[int] = field(default_factory=list[int])
    limit: int = 10


@record(kw_only=True)
class Checked(Stack):
    total: int
    seen: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = [self.total]


def test_records_with_equal_fields_are_equal_and_hash_alike() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1)
    assert {Point(1, 2), Point(1, 2), Point(1)} == {Point(1, 2), Point(1, 0)}
    assert Empty() == Empty()


def test_records_of_different_classes_are_not_equal() -> None:
    assert Named("a") != Point(1)
    assert Point(1).__eq__(1) is NotImplemented


def test_a_record_keeps_a_hash_of_its_own() -> None:
    assert hash(Named("abc", "x")) == 3


def test_fields_can_be_left_out_of_a_comparison() -> None:
    assert Place(1, "a.py") == Place(1, "b.py")
    assert hash(Place(1, "a.py")) == hash(Place(1, "b.py"))


def test_records_can_be_distinguished_by_identity() -> None:
    thing = Thing("a")
    assert thing != Thing("a")
    assert {thing: 1}[thing] == 1


def test_a_record_that_may_change_is_not_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Stack("a"))


def test_a_default_is_made_for_each_record() -> None:
    first, second = Stack("a"), Stack("b")
    first.items.append(1)
    assert (first.items, second.items, second.limit) == ([1], [], 10)


def test_a_record_has_the_fields_of_its_base_too() -> None:
    made = Checked("a", [1], total=3)
    assert (made.name, made.items, made.limit, made.total, made.seen) == ("a", [1], 10, 3, [3])
    assert repr(made) == "Checked(name='a', items=[1], limit=10, total=3, seen=[3])"


def test_a_record_is_changed_by_making_another() -> None:
    point = Point(1, 2)
    assert (replace(point, y=3), point) == (Point(1, 3), Point(1, 2))
    assert replace(Checked("a", total=3), total=4).seen == [4]


def test_a_record_has_no_other_fields() -> None:
    assert not hasattr(Point(1), "__dict__")


def test_a_record_is_matched_by_position() -> None:
    match Point(1, 2):
        case Point(1, y):
            assert y == 2
        case _:
            pytest.fail("not matched")


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]
)
def test_wrong_arguments_are_refused_in_the_words_of_dataclasses(
    args: tuple[int, ...], kwargs: dict[str, int]
) -> None:
    twin: Any = dataclasses.make_dataclass("Point", [("x", int), ("y", int, 0)])
    make: Any = Point
    with pytest.raises(TypeError) as expected:
        twin(*args, **kwargs)
    with pytest.raises(TypeError, match=re.escape(str(expected.value))):
        make(*args, **kwargs)


def test_a_field_without_a_default_stands_before_those_that_have_one() -> None:
    def define() -> None:
        @frozen
        class Wrong:  # pyright: ignore[reportUnusedClass]
            x: int = 0
            y: int  # pyright: ignore[reportGeneralTypeIssues]

    with pytest.raises(TypeError, match="`y` of Wrong has no default, but one before it has"):
        define()


def test_no_class_of_ours_is_a_dataclass() -> None:
    """Each would take as long to define as ten records, in every `import eas`."""
    root = Path(__file__).parents[2]
    folders = (root / name for name in ("eas", "frontend_ast", "ir", "msl", "runtime"))
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert files
    assert [
        path.name for path in files if re.search(r"^\s*@dataclass\b", path.read_text(), re.M)
    ] == []
