"""What all models of files have in common: strict, closed, and names that are names."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

LONGEST_NAME = 200

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Dotted = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$", max_length=LONGEST_NAME
    ),
]
DTypeName = Literal[
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"
]
Small = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Positive = Annotated[int, Field(ge=1, lt=2**31)]
Bytes = Annotated[int, Field(ge=1, lt=2**48)]
Figure = Annotated[float, Field(gt=0, allow_inf_nan=False)]

OWN = "septran"  # the type of mistakes that models of ours find themselves


class Strict(BaseModel):
    """A map with these keys and no others; `3` is no text and `true` no number."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def wrong(code: str, message: str, at: str = "") -> Exception:
    """A mistake that a model finds itself; `at` is the path of what is wrong in it."""
    context = {"code": code, "message": message, "at": at}
    return PydanticCustomError(OWN, "{message}", context)
