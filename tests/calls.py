"""The functions of `mk`, their forms, and what they can be called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_overloads

from eas import mk
from eas.intrinsic import MARK

FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: value for name, value in vars(mk).items() if hasattr(value, MARK)
}

# A right argument for each annotation that a function of `mk` has.
ARGUMENTS = {
    "Value": "v",
    "Number": "1.0",
    "Number | None": "1.0",
    "Int": "v",
    "int": "1",
    "int | None": "1",
    "Mask": "v",
    "Condition": "v",
    "builtins.bool": "True",
    "Shape": "(4,)",
    "Axes": "(0,)",
    "Sequence[Int]": "(1, v)",
    "Sequence[int]": "[1, 0]",
    "Sequence[int] | None": "(1, 0)",
    "DTypeLike": "mk.f32",
    "BlockPointer": "p",
    "Pair": "(v, v)",
    "Triple": "(v, v, v)",
    "Several": "(v, v, v, v)",
    "Padding": '"nan"',
    "Eviction": '"evict_last"',
    "Caching": '".cg"',
    "str": '"text"',
    "object": "v",
    "Precision": '"tf32"',
    "Joining": "lambda a, b: a",
    "JoiningPairs": "lambda a, b, c, d: (a, b)",
    "JoiningTriples": "lambda a, b, c, d, e, f: (a, b, c)",
    "JoiningSeveral": "join",
}


def forms_of(function: Callable[..., Any]) -> list[inspect.Signature]:
    return [inspect.signature(form) for form in get_overloads(function) or [function]]
