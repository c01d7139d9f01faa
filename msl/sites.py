"""Places in the source that report to the host, see `eas.msl.reports`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eas.ir.location import Loc
from eas.ir.types import DType


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the source that reports to the host: an `assert` or a `print`.

    `parts` are the texts and the dtypes of the values, in turn; an assert has one text.
    """

    kind: Literal["assert", "print"]
    parts: tuple[str | DType, ...]
    loc: Loc
