"""What the samples of all languages have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eas.export.manifest import Manifest
from eas.msl.cxx.names import identifier, unique
from eas.support.records import frozen

# The demonstration at the end of a sample: so many elements for each array, and so large numbers
# that indices made of up to three of them stay inside.
ELEMENTS = 1 << 20
SIZE = 64
SIDES = {0: (), 1: (ELEMENTS,), 2: (1024, 1024), 3: (64, 64, 64), 4: (32, 32, 32, 32)}

BYTES = {
    **dict.fromkeys(("bool", "i8", "u8", "f8e4m3", "f8e5m2"), 1),
    **dict.fromkeys(("i16", "u16", "f16", "bf16"), 2),
    **dict.fromkeys(("i32", "u32", "f32"), 4),
    **dict.fromkeys(("i64", "u64"), 8),
}


@frozen(eq=False)
class Number:
    """A number that is bound at a buffer index, or lies at an offset of the struct there."""

    index: int
    offset: int | None
    name: str
    dtype: str
    source: str
    array: str
    axis: int

    @property
    def meaning(self) -> str:
        """For a comment."""
        match self.source:
            case "argument":
                return self.dtype
            case "low":
                return f"the offset of the first element of `{self.array}`"
            case "high":
                return f"the offset behind the last element of `{self.array}`"
            case _:
                return f"the {self.source} of `{self.array}` along axis {self.axis}"


def arrays_of(manifest: Manifest) -> list[Manifest]:
    return [each for each in manifest["arguments"] if each["kind"] == "array"]


def numbers_of(manifest: Manifest) -> Iterator[Number]:
    """The numbers in the order of their buffers."""
    for buffer in manifest["buffers"]:
        if buffer["kind"] == "scalar":
            yield _number(buffer["index"], None, buffer)
        for field in buffer.get("fields", ()):
            yield _number(buffer["index"], field["offset"], field)


def _number(index: int, offset: int | None, each: Manifest) -> Number:
    return Number(
        index,
        offset,
        each["name"],
        each["dtype"],
        each["source"],
        each.get("array", ""),
        each.get("axis", 0),
    )


def names_of(manifest: Manifest) -> dict[str, str]:
    """A name of its own for each array and number, as C++ and Swift take it."""
    names: dict[str, str] = {}
    for name in (
        *(each["name"] for each in arrays_of(manifest)),
        *(each.name for each in numbers_of(manifest)),
    ):
        names[name] = unique(identifier(name) or "argument", names.values())
    return names


def buffer_of(manifest: Manifest, kind: str) -> Manifest | None:
    """The buffer of a kind of which there is at most one: `scalars` or `report`."""
    return next((each for each in manifest["buffers"] if each["kind"] == kind), None)


def demo_shape(array: Manifest) -> tuple[int, ...]:
    """The shape of an array in the demonstration."""
    rank = 1 if array["rank"] is None else array["rank"]
    return SIDES.get(rank, (4,) * rank)


def demo_value(number: Number, manifest: Manifest) -> Any:
    """A number in the demonstration; the arrays are contiguous."""
    shapes = {each["name"]: demo_shape(each) for each in arrays_of(manifest)}
    if number.source == "argument":
        return True if number.dtype == "bool" else 1 if _is_float(number.dtype) else SIZE
    shape = shapes[number.array]
    if number.source == "extent":
        return shape[number.axis]
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    if number.source == "stride":
        return strides[number.axis]
    return 0 if number.source == "low" else shape[0] * strides[0] if shape else 1


def _is_float(dtype: str) -> bool:
    return dtype.lstrip("b").startswith("f")


def extents_of(manifest: Manifest) -> list[tuple[str | int, int]] | None:
    """The three extents of the grid that follows from arguments, as sizes and divisors."""
    extents = manifest["grid"]["extents"]
    if extents is None:
        return None
    pairs: list[tuple[str | int, int]] = [(each["size"], each["divisor"]) for each in extents]
    return (pairs + [(1, 1)] * 2)[:3]


def extent_text(size: str | int, divisor: int, kind: str, names: Mapping[str, str]) -> str:
    """An extent of the grid as C++ and Swift spell it, as a number of a kind."""
    if isinstance(size, int):
        return str(-(-size // divisor))
    value = f"{kind}(arguments.{names[size]})"
    return f"({value} + {divisor - 1}) / {divisor}" if divisor > 1 else value


def failures(manifest: Manifest) -> list[tuple[int, str]]:
    """What the number in a report stands for, without prints."""
    words = {"assert": "assertion failed", "index": "an index outside of"}
    found: list[tuple[int, str]] = []
    for site in manifest["sites"]:
        if site["kind"] == "print":
            continue
        what = words.get(site["kind"], f"an element is {site['kind']} outside of")
        text = f"{what}{': ' if site['kind'] == 'assert' else ' '}{site['text']}".rstrip(": ")
        found.append((site["number"], f"{site['file']}:{site['line']}: {text}"))
    return found


def quote(text: str) -> str:
    """A text in quotes as C++, Swift and Python take it; what is not ASCII is kept."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    for raw, escaped in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        plain = plain.replace(raw, escaped)
    return f'"{"".join(c if c.isprintable() else " " for c in plain)}"'
