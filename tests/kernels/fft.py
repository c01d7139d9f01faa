"""The Fourier transform of a power of two in threadgroup memory, stage by stage."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def fft(re, im, out_re, out_im, N: eas.constexpr):
    """Stockham: stage by stage from one half of the memory to the other, in order at the end."""
    t = mk.tid(0, N // 2)
    start = mk.program_id(0) * N
    x, y = mk.alloc_tg(2 * N, mk.f32), mk.alloc_tg(2 * N, mk.f32)
    for half in mk.static_range(2):
        mk.store(x, t + half * (N // 2), mk.load(re, start + t + half * (N // 2)))
        mk.store(y, t + half * (N // 2), mk.load(im, start + t + half * (N // 2)))
    stages = N.bit_length() - 1
    for stage in mk.static_range(stages):
        width = 1 << stage
        source, target = stage % 2 * N, (stage + 1) % 2 * N
        mk.barrier()
        a, b = mk.load(x, source + t), mk.load(y, source + t)
        c, d = mk.load(x, source + t + N // 2), mk.load(y, source + t + N // 2)
        angle = (-math.pi / width) * (t % width).to(mk.f32)
        co, si = mk.cos(angle), mk.sin(angle)
        p, q = c * co - d * si, c * si + d * co
        place = t // width * (2 * width) + t % width
        mk.store(x, target + place, a + p)
        mk.store(y, target + place, b + q)
        mk.store(x, target + place + width, a - p)
        mk.store(y, target + place + width, b - q)
    mk.barrier()
    for half in mk.static_range(2):
        last = stages % 2 * N + t + half * (N // 2)
        mk.store(out_re, start + t + half * (N // 2), mk.load(x, last))
        mk.store(out_im, start + t + half * (N // 2), mk.load(y, last))


def arguments() -> Arguments:
    return {
        "re": floats(3, 64), "im": floats(3, 64, seed=1), "out_re": np.zeros((3, 64), "f4"),
        "out_im": np.zeros((3, 64), "f4"), "N": 64,
    }  # fmt: skip


def reference(re: Array, im: Array, **_: object) -> dict[str, Array]:
    found = np.fft.fft(re.astype("f8") + 1j * im)
    return {"out_re": found.real, "out_im": found.imag}


CASE = Case(fft, arguments, reference, grid=(3,), tolerance=1e-6)
