"""The arguments of an operator, as far as a compile depends on them."""

from __future__ import annotations

from eas.ir.types import DType
from eas.support.records import frozen


@frozen
class TensorType:
    """The shape and dtype of an argument."""

    shape: tuple[int, ...]
    dtype: DType
