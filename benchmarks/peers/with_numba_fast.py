"""numba with `fastmath=True`: sums in any order, products added without rounding, no NaN."""

from __future__ import annotations

from numba import njit

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
