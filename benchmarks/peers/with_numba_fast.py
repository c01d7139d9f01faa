"""numba with `fastmath=True`: sums in any order, products added without rounding, no NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from benchmarks.peers import with_numba

_fast = njit(parallel=True, fastmath=True)

softmax = _fast(with_numba.softmax.py_func)
layernorm = _fast(with_numba.layernorm.py_func)
gelu = _fast(with_numba.gelu.py_func)
mandelbrot = _fast(with_numba.mandelbrot.py_func)
matmul = _fast(with_numba.matmul.py_func)
matmul_loops = _fast(with_numba.matmul_loops.py_func)
nbody = _fast(with_numba.nbody.py_func)
box_blur = _fast(with_numba.box_blur.py_func)


@_fast
def prefix_sum(x: Any, y: Any) -> None:
    """Sums of the parts come first: in any order they are vectors, and `y` is written once."""
    threads = get_num_threads()
    size = (len(x) + threads - 1) // threads
    starts = np.zeros(threads + 1, np.float32)
    for t in prange(threads):
        starts[t + 1] = x[t * size : (t + 1) * size].sum()
    for t in range(threads):
        starts[t + 1] += starts[t]
    for t in prange(threads):
        total = starts[t]
        source, target = x[t * size : (t + 1) * size], y[t * size : (t + 1) * size]
        for i in range(len(source)):
            total += source[i]
            target[i] = total
