"""Objects of Objective-C: methods as pyobjc gives them, and counted references."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from tests.metal.simulated.arguments import CONVERSIONS, kinds_of
from tests.metal.simulated.machine import Machine

EXTRACT = Path(__file__).parent.parent / "pyobjc.json"

F = TypeVar("F", bound=Callable[..., Any])
Made = TypeVar("Made", bound="Object")


class FailedAssertion(AssertionError):
    """Where Metal would end the process."""


def require(holds: bool, message: str) -> None:
    if not holds:
        raise FailedAssertion(message)


@cache
def extract() -> dict[str, Any]:
    """What pyobjc says about selectors, constants, functions and structs."""
    return json.loads(EXTRACT.read_text("utf-8"))


def constant(name: str) -> int:
    """A constant of Metal."""
    return extract()["constants"][name]


class Selector:
    """A method of an object, as pyobjc gives it."""

    def __init__(self, owner: Object, function: Callable[..., Any]) -> None:
        self.owner, self.function = owner, function

    def __call__(self, *arguments: Any) -> Any:
        owner, name = self.owner, self.function.__name__
        if len(arguments) != name.count("_"):
            raise TypeError(f"Need {name.count('_')} arguments, got {len(arguments)}")
        owner.require_usable(name)
        kinds = zip(arguments, kinds_of(self.function), strict=True)
        result = self.function(owner, *(owner.receive(value, *kind) for value, kind in kinds))
        if isinstance(result, str):
            owner.machine.note_autorelease("NSString")
        return result

    def __metadata__(self) -> dict[str, Any]:
        """Like that of `objc.selector`: a flag that is not set is not there."""
        is_new = self.function.__name__.startswith("new")
        knows = is_new and self.owner.machine.knows_ownership
        return {"retval": {"type": b"@"} | ({"already_retained": True} if knows else {})}


class Described:
    """A method in a class's body; of an object, it is a `Selector`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __get__(self, owner: Object, kind: type[Object]) -> Selector:
        return Selector(owner, self.function)


def selector(function: F) -> F:
    """Makes a method one of Objective-C."""
    return cast("F", Described(function))


class Object:
    """An object of a machine, with a reference that Python holds."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.process = os.getpid()
        self.references = [1]
        kind = type(self).__name__
        machine.note_birth(kind)
        weakref.finalize(self, machine.note_death, kind, self.references).atexit = False

    def require_usable(self, method: str) -> None:
        what = f"-[{type(self).__name__} {method}]"
        require(self.references[0] > 0, f"{what}: the object is freed")
        require(self.process == os.getpid(), f"{what}: the object is of another process")

    def receive(self, value: Any, kind: Any, may_be_none: bool) -> Any:
        """An argument as a method of this object gets it."""
        if value is None and may_be_none:
            return None
        if kind in CONVERSIONS:
            return CONVERSIONS[kind](value)
        if isinstance(kind, type) and issubclass(kind, Object):
            if not isinstance(value, kind):
                raise FailedAssertion(f"{type(value).__name__} is no {kind.__name__}")
            value.require_usable("retain")
            require(value.machine is self.machine, f"{kind.__name__} of another device")
        return value

    @selector
    def retainCount(self) -> int:
        return self.references[0]

    @selector
    def release(self) -> None:
        self.references[0] -= 1
        require(self.references[0] > 0, f"{type(self).__name__} is released once too often")


def give(made: Made) -> Made:
    """An object of a `new...` method, which gives a reference away; pyobjc forgets that one."""
    made.references[0] += made.machine.own_references + (not made.machine.knows_ownership)
    return made


def autorelease(made: Made) -> Made:
    """An object that the innermost pool lets go of."""
    made.machine.note_autorelease(type(made).__name__)
    return made
