"""`!tune`: a value that is still open, and the values that it can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from eas.septran.files.model import Name, Positive, Small, Strict, wrong
from eas.septran.files.nodes import TuneData

MOST_OPTIONS = 1000
MOST_STAGES = 64
BRANCHES = ("<tune>", "<value>", "<bool>", "<one>", "<list>")  # of the unions in models
TUNE_TYPES = ("choice", "int", "pow2", "bool", "memory", "binding", "instance")


class _Listed(Strict):
    """A tune whose options are listed; none of them twice."""

    @model_validator(mode="after")
    def _check_values(self) -> Self:
        values: list[object] = getattr(self, "values", None) or []
        kinds = [(type(each), each) for each in values]
        if len(set(kinds)) < len(kinds):
            twice = next(each for n, (_, each) in enumerate(kinds) if kinds[n] in kinds[:n])
            raise wrong("S123", f"`{twice}` is listed twice", "values")
        return self


def kind_of(value: object) -> str:
    """Which branch a value belongs to: errors then speak of this branch only."""
    if isinstance(value, TuneData) or getattr(value, "type", None) in TUNE_TYPES:
        return "<tune>"
    return "<bool>" if isinstance(value, bool) else "<value>"


_Plain = Annotated[
    Annotated[Small, Tag("<value>")] | Annotated[bool, Tag("<bool>")], Discriminator(kind_of)
]


class ValueChoice(_Listed):
    """One of some numbers, or of true and false."""

    type: Literal["choice"]
    values: list[_Plain] = Field(min_length=1, max_length=MOST_OPTIONS)

    def options(self) -> Sequence[int | bool]:
        return self.values


class IntChoice(_Listed):
    """One of some numbers."""

    type: Literal["choice"]
    values: list[Small] = Field(min_length=1, max_length=MOST_OPTIONS)

    def options(self) -> Sequence[int]:
        return self.values


class NameChoice(_Listed):
    """One of some names."""

    type: Literal["choice"]
    values: list[Name] = Field(min_length=1, max_length=MOST_OPTIONS)

    def options(self) -> Sequence[str]:
        return self.values


class IntRange(Strict):
    """A number from `low` to `high`, both included, in steps."""

    type: Literal["int"]
    low: Small
    high: Small
    step: Positive = 1

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.low > self.high:
            raise wrong("S123", f"no number is from {self.low} to {self.high}", "high")
        if len(self.options()) > MOST_OPTIONS:
            raise wrong("S123", f"these are more than {MOST_OPTIONS} numbers", "high")
        return self

    def options(self) -> Sequence[int]:
        return range(self.low, self.high + 1, self.step)


class PowerOfTwo(Strict):
    """A power of two from `low` to `high`, both included."""

    type: Literal["pow2"]
    low: Positive
    high: Positive

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if not self.options():
            raise wrong("S123", f"no power of two is from {self.low} to {self.high}", "high")
        return self

    def options(self) -> Sequence[int]:
        return [1 << n for n in range(31) if self.low <= 1 << n <= self.high]


class Either(Strict):
    """True or false."""

    type: Literal["bool"]

    def options(self) -> Sequence[bool]:
        return [False, True]


class MemoryChoice(_Listed):
    """A memory of the machine: one of these, or any that the instance's processor sees."""

    type: Literal["memory"]
    values: list[Name] | None = Field(default=None, min_length=1, max_length=MOST_OPTIONS)

    def options(self) -> Sequence[str] | None:
        return self.values


class BindingChoice(_Listed):
    """A primitive of the machine: one of these, or any."""

    type: Literal["binding"]
    values: list[Name] | None = Field(default=None, min_length=1, max_length=MOST_OPTIONS)

    def options(self) -> Sequence[str] | None:
        return self.values


def branch_of(value: object) -> str:
    """The same, where `true` has no branch of its own."""
    return "<tune>" if kind_of(value) == "<tune>" else "<value>"


def _unwrapped(value: object) -> object:
    return value.data if isinstance(value, TuneData) else value


UNWRAP = BeforeValidator(_unwrapped)
_BY_TYPE = Field(discriminator="type")

_IntTune = Annotated[IntChoice | IntRange | PowerOfTwo, _BY_TYPE, UNWRAP]
_ValueTune = Annotated[ValueChoice | IntRange | PowerOfTwo | Either, _BY_TYPE, UNWRAP]
_MemoryTune = Annotated[NameChoice | MemoryChoice, _BY_TYPE, UNWRAP]
_BindingTune = Annotated[NameChoice | BindingChoice, _BY_TYPE, UNWRAP]
_InstanceTune = Annotated[NameChoice, UNWRAP]


def _options_within(low: int, high: int) -> AfterValidator:
    """A `!tune` may offer only what could stand in its place."""

    def check(value: int | IntChoice | IntRange | PowerOfTwo) -> object:
        for option in () if isinstance(value, int) else value.options():
            if not low <= option <= high:
                raise wrong("S123", f"{option} is not from {low} to {high}")
        return value

    return AfterValidator(check)


AnyTune = (
    ValueChoice
    | IntChoice
    | NameChoice
    | IntRange
    | PowerOfTwo
    | Either
    | MemoryChoice
    | BindingChoice
)

# What may stand at each kind of place.
_BRANCH = Discriminator(branch_of)

Value = Annotated[
    Annotated[Small, Tag("<value>")]
    | Annotated[bool, Tag("<bool>")]
    | Annotated[_ValueTune, Tag("<tune>")],
    Discriminator(kind_of),
]
_Depth = Annotated[int, Field(ge=1, le=MOST_STAGES)]
Stages = Annotated[
    Annotated[_Depth, Tag("<value>")] | Annotated[_IntTune, Tag("<tune>")],
    _BRANCH,
    _options_within(1, MOST_STAGES),
]
Threads = Annotated[
    Annotated[int, Field(ge=1, le=65536), Tag("<value>")] | Annotated[_IntTune, Tag("<tune>")],
    _BRANCH,
    _options_within(1, 65536),
]
Padding = Annotated[
    Annotated[int, Field(ge=0, le=4096), Tag("<value>")] | Annotated[_IntTune, Tag("<tune>")],
    _BRANCH,
    _options_within(0, 4096),
]
MemoryName = Annotated[
    Annotated[Name, Tag("<value>")] | Annotated[_MemoryTune, Tag("<tune>")],
    _BRANCH,
]
BindingName = Annotated[
    Annotated[Name, Tag("<value>")] | Annotated[_BindingTune, Tag("<tune>")],
    _BRANCH,
]
InstanceName = Annotated[
    Annotated[Name, Tag("<value>")] | Annotated[_InstanceTune, Tag("<tune>")],
    _BRANCH,
]
