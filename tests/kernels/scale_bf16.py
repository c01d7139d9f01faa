"""Scales numbers of 16 bits with the exponent of 32, computing in f32 and rounding once."""

import ml_dtypes
import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def scale_bf16(x, y, factor, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    wide = mk.load(x, offs, offs < N).to(mk.f32)
    mk.store(y, offs, (wide * factor + 1.0).to(mk.bf16), offs < N)


def arguments() -> Arguments:
    x = floats(130).astype(ml_dtypes.bfloat16)
    return {"x": x, "y": np.zeros_like(x), "factor": 3.25, "N": 130, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": (x.astype("f4") * np.float32(3.25) + 1).astype(ml_dtypes.bfloat16)}


CASE = Case(scale_bf16, arguments, reference)
