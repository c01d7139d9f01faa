"""Records: compared and hashed by their fields, unless they say otherwise."""

from __future__ import annotations

from dataclasses import replace

from eas.ir.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 0


@frozen
class Named:
    name: str
    note: str = ""

    def __hash__(self) -> int:
        return len(self.name)


def test_records_with_equal_fields_are_equal_and_hash_alike() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1)
    assert {Point(1, 2), Point(1, 2), Point(1)} == {Point(1, 2), Point(1, 0)}


def test_a_record_keeps_a_hash_of_its_own() -> None:
    assert hash(Named("abc", "x")) == 3


def test_a_record_is_changed_by_making_another() -> None:
    point = Point(1, 2)
    assert (replace(point, y=3), point) == (Point(1, 3), Point(1, 2))


def test_a_record_has_no_other_fields() -> None:
    assert not hasattr(Point(1), "__dict__")
