"""The attention of `flash_attention`, but each row sees all others."""

from tests.kernels import flash_attention
from tests.kernels.case import Arguments, Case


def arguments() -> Arguments:
    return {**flash_attention.arguments(), "CAUSAL": False}


CASE = Case(
    flash_attention.flash_attention, arguments, flash_attention.reference, grid=(3,), tolerance=1e-6
)
